import { promisify } from 'node:util';
import { gunzip, gzip } from 'node:zlib';

/** Returns a value as compressed JSON in base64: a Secret holds at most 1 MiB. */
export async function pack(value: unknown): Promise<string> {
  return (await promisify(gzip)(JSON.stringify(value))).toString('base64');
}

/** Returns a packed value; undefined if there is none. */
export async function unpack(packed: string | undefined): Promise<unknown> {
  if (packed === undefined) return undefined;
  const bytes = await promisify(gunzip)(Buffer.from(packed, 'base64'), { maxOutputLength: 16 * 1024 * 1024 });
  return JSON.parse(bytes.toString('utf8'));
}

/** Returns how many bytes etcd stores for the values of a Secret. */
export function dataBytes(data: Record<string, string> = {}): number {
  return Object.values(data).reduce((sum, base64) => sum + Buffer.byteLength(base64, 'base64'), 0);
}
