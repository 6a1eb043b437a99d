import type { BuildLogKeys } from './keys.ts';
import { type BuildLogMessage, decodeMessage } from './message.ts';

interface Entry {
  id: string;
  message: Record<string, string>;
}

/** What reading needs of Redis. */
export interface BuildLogPagesRedis {
  xRange(key: string, start: string, end: string, options: { COUNT: number }): Promise<Entry[] | null>;
  xRevRange(key: string, start: string, end: string, options: { COUNT: number }): Promise<Entry[] | null>;
}

/** With lines of 16 KiB, the longest there are, a page is 8 MiB. */
const PAGE_LENGTH = 500;

/** The messages after `seq`, at most a page of them. */
export async function readPage(redis: BuildLogPagesRedis, keys: BuildLogKeys, seq: number): Promise<BuildLogMessage[]> {
  const entries = await redis.xRange(keys.stream, `(${seq}-0`, '+', { COUNT: PAGE_LENGTH });
  return (entries ?? []).map(decodeMessage);
}

export async function readLast(redis: BuildLogPagesRedis, keys: BuildLogKeys): Promise<BuildLogMessage | undefined> {
  const [entry] = (await redis.xRevRange(keys.stream, '+', '-', { COUNT: 1 })) ?? [];
  return entry && decodeMessage(entry);
}

export function isEnd(message: BuildLogMessage | undefined): boolean {
  return message !== undefined && 'end' in message;
}
