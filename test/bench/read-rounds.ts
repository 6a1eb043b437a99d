import type { RestClient } from '../client/rest-client.ts';
import { atOnce } from './at-once.ts';
import { percentile } from './measure.ts';

const rounds = 3;
const requestsAtOnce = 8;

/** Results of one round: requests per second, and durations in milliseconds. */
export interface Taken {
  perSecond: number;
  p50: number;
  p99: number;
}

export const MEASURES = [
  { of: 'perSecond', unit: '/s', words: '' },
  { of: 'p50', unit: 'ms', words: ', p50' },
  { of: 'p99', unit: 'ms', words: ', p99', target: '≤ 3 ×' },
] as const;

/** The measured requests, by the name of their figure. */
export type Reads = Map<string, () => Promise<void>>;

export function readByRest(client: RestClient, path: string): () => Promise<void> {
  return async () => {
    const { status, text } = await client.send('GET', path);
    if (status !== 200) throw new Error(`GET ${path}: ${status} ${text}`);
  };
}

/** Measures the reads in alternating rounds, so that other load affects all of them; ignores the first round. */
export async function measureAll(reads: Reads, count: number): Promise<Map<string, Taken[]>> {
  const taken = new Map([...reads.keys()].map((name) => [name, [] as Taken[]]));
  for (const read of reads.values()) await measure(read, count);
  for (let round = 0; round < rounds; round++) {
    for (const [name, read] of reads) taken.get(name)?.push(await measure(read, count));
  }
  return taken;
}

async function measure(read: () => Promise<void>, count: number): Promise<Taken> {
  const times: number[] = [];
  const start = performance.now();
  await atOnce(
    requestsAtOnce,
    Array.from({ length: count }, () => read),
    async (one) => {
      const started = performance.now();
      await one();
      times.push(performance.now() - started);
    },
  );
  const seconds = (performance.now() - start) / 1000;
  return { perSecond: count / seconds, p50: percentile(times, 0.5), p99: percentile(times, 0.99) };
}
