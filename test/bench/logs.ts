import { join } from 'node:path';
import { z } from 'zod';
import type { Progress } from '../support/progress.ts';
import { REPOSITORY_ROOT } from '../support/paths.ts';
import { run } from '../support/run.ts';
import type { Figure } from './measure.ts';

const rounds = 3;
const offered = 50_000;
const seconds = 5;
const viewers = 50;

const delaySchema = z.object({ p50: z.number(), p99: z.number() });
const memory = { idleMiB: z.number(), peakMiB: z.number() };
const resultSchema = z.object({
  raw: z.object({ sent: z.number(), had: z.array(z.number()), delayMs: delaySchema, ...memory }),
  writing: z.object({ linesPerSecond: z.number() }),
  reading: z.object({
    linesPerSecond: z.number(),
    gaps: z.number(),
    /** Number of messages that each viewer received; one number if all are equal. */
    had: z.array(z.number()),
    delayMs: delaySchema,
  }),
  api: z.object(memory),
});

/** Measures one build's log, from simulated pods to WebSocket viewers, with a separate Redis and without a cluster. */
export async function benchLogs(progress: Progress): Promise<Figure[]> {
  const script = join(REPOSITORY_ROOT, 'test/build-logs/throughput.ts');
  const arguments_ = [script, offered, seconds, viewers].map(String);
  const results: z.infer<typeof resultSchema>[] = [];
  for (let round = 1; round <= rounds; round++) {
    const output = await progress.step(`round ${round} of ${rounds}`, () =>
      run(process.execPath, arguments_, { deadline: 120 }),
    );
    const result = resultSchema.parse(JSON.parse(output));
    const { gaps, had } = result.reading;
    const [each = 0] = had;
    if (gaps > 0 || had.length !== 1 || each < offered * seconds) {
      throw new Error(`lines were lost: ${gaps} gaps; the viewers had ${had.join(', ')} messages`);
    }
    const { raw } = result;
    if (raw.had.length !== 1 || raw.had[0] !== raw.sent) {
      throw new Error(`raw lines were lost: of ${raw.sent} bytes the viewers had ${raw.had.join(', ')}`);
    }
    results.push(result);
  }
  const samples = (pick: (result: z.infer<typeof resultSchema>) => number) => results.map(pick);
  const delayed = (share: 'p50' | 'p99'): Figure => ({
    name: `build log: from written to seen, ${share}`,
    unit: 'ms',
    samples: samples(({ reading }) => reading.delayMs[share]),
    baseline: { name: 'the same lines by plain TCP', samples: samples(({ raw }) => raw.delayMs[share]) },
  });
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
    delayed('p50'),
    { ...delayed('p99'), target: 'at most 100 ms more' },
    {
      name: `build log: API memory above idle, per viewer of ${viewers} viewers`,
      unit: 'MiB',
      samples: samples(({ api }) => (api.peakMiB - api.idleMiB) / viewers),
      baseline: {
        name: 'plain TCP server',
        samples: samples(({ raw }) => (raw.peakMiB - raw.idleMiB) / viewers),
      },
    },
  ];
}
