import { parseArgs } from 'node:util';
import { z } from 'zod';
import { messageOf, Problem } from '../support/problem.ts';
import type { Sizes } from './fault-world.ts';

const usage = `npm run faults -- [--seed N] [--moving N] [--running N] [--built N] [FAULT…]
  --seed     of the requests and of the fault's delay; the time by default
  --moving   environments without containers, at least 10, so that some are in each state when the fault is injected
  --running  environments with a container
  --built    environments with an image build, at least 1, because their logs are checked`;

const whole = (least: number) => z.string().regex(/^\d+$/).transform(Number).pipe(z.int().min(least)).optional();
const optionsSchema = z.object({ seed: whole(0), moving: whole(10), running: whole(0), built: whole(1) });

interface FaultOptions {
  seed: number | undefined;
  sizes: Partial<Sizes>;
  parts: readonly string[];
}

/** Parses the arguments. @throws Problem with the usage for invalid ones */
export function parseFaultOptions(args: readonly string[]): FaultOptions {
  const text = { type: 'string' } as const;
  try {
    const { values, positionals: parts } = parseArgs({
      args: [...args],
      options: { seed: text, moving: text, running: text, built: text },
      allowPositionals: true,
    });
    const { seed, ...sizes } = optionsSchema.parse(values);
    return { seed, sizes: withoutUndefined(sizes), parts };
  } catch (error) {
    const why = error instanceof z.ZodError ? error.issues.map(describe).join('\n') : messageOf(error);
    throw new Problem(`${why}\n${usage}`, { cause: error });
  }
}

function describe({ path, message }: z.core.$ZodIssue): string {
  return `--${path.join('.')}: ${message}`;
}

function withoutUndefined(sizes: Record<string, number | undefined>): Partial<Sizes> {
  return Object.fromEntries(Object.entries(sizes).filter(([, size]) => size !== undefined));
}
