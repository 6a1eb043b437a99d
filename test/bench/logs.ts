import { join } from 'node:path';
import { z } from 'zod';
import type { Progress } from '../cluster/progress.ts';
import { repositoryRoot } from '../cluster/paths.ts';
import { run } from '../cluster/run.ts';
import type { Figure } from './measure.ts';

const rounds = 3;
const offered = 50_000;
const seconds = 5;
const viewers = 50;

const resultSchema = z.object({
  writing: z.object({ linesPerSecond: z.number() }),
  reading: z.object({
    linesPerSecond: z.number(),
    gaps: z.number(),
    /** How many messages the viewers had: one number where all had as many. */
    messagesEach: z.array(z.number()),
    delayMs: z.object({ p50: z.number(), p99: z.number() }),
  }),
  api: z.object({ idleMiB: z.number(), mostMiB: z.number() }),
});

/** One build's log, from pods that are made up to viewers by WebSocket, with a Redis of its own: no cluster needed. */
export async function benchLogs(progress: Progress): Promise<Figure[]> {
  const script = join(repositoryRoot, 'test/build-logs/throughput.ts');
  const arguments_ = [script, offered, seconds, viewers].map(String);
  const results: z.infer<typeof resultSchema>[] = [];
  for (let round = 1; round <= rounds; round++) {
    const output = await progress.step(`round ${round} of ${rounds}`, () =>
      run(process.execPath, arguments_, { deadline: 120 }),
    );
    const result = resultSchema.parse(JSON.parse(output));
    const { gaps, messagesEach } = result.reading;
    const [each = 0] = messagesEach;
    if (gaps > 0 || messagesEach.length !== 1 || each < offered * seconds) {
      throw new Error(`lines were lost: ${gaps} gaps; the viewers had ${messagesEach.join(', ')} messages`);
    }
    results.push(result);
  }
  const samples = (pick: (result: z.infer<typeof resultSchema>) => number) => results.map(pick);
  return [
    {
      name: `build log: lines a second at each of ${viewers} viewers`,
      unit: '/s',
      samples: samples(({ reading }) => reading.linesPerSecond),
      baseline: {
        name: `taken by Redis, of ${offered.toLocaleString('en')} offered`,
        samples: samples(({ writing }) => writing.linesPerSecond),
      },
      target: 'as they are offered, none lost',
    },
    {
      name: 'build log: from written to seen, p99',
      unit: 'ms',
      samples: samples(({ reading }) => reading.delayMs.p99),
      target: '≤ 100 ms',
    },
    {
      name: `build log: the api's memory above idle, for each of ${viewers} viewers`,
      unit: 'MiB',
      samples: samples(({ api }) => (api.mostMiB - api.idleMiB) / viewers),
    },
  ];
}
