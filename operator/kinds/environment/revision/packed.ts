import { promisify } from 'node:util';
import { gunzip, gunzipSync, gzip } from 'node:zlib';

const limits = { maxOutputLength: 16 * 1024 * 1024 };
/**
 * Up to this many compressed bytes are decompressed at once, in less time than a thread needs to be asked: at a start the
 * operator reads the revision of each environment. They become at most 16 MiB, within milliseconds.
 */
const smallBytes = 16 * 1024;

/** Returns a value as compressed JSON in base64: a Secret holds at most 1 MiB. */
export async function pack(value: unknown): Promise<string> {
  return (await promisify(gzip)(JSON.stringify(value))).toString('base64');
}

/** Returns a packed value; undefined if there is none. */
export async function unpack(packed: string | undefined): Promise<unknown> {
  if (packed === undefined) return undefined;
  const compressed = Buffer.from(packed, 'base64');
  const isSmall = compressed.length <= smallBytes;
  const bytes = isSmall ? gunzipSync(compressed, limits) : await promisify(gunzip)(compressed, limits);
  return JSON.parse(bytes.toString('utf8'));
}

/** Returns how many bytes etcd stores for the values of a Secret. */
export function dataBytes(data: Record<string, string> = {}): number {
  return Object.values(data).reduce((sum, base64) => sum + Buffer.byteLength(base64, 'base64'), 0);
}
