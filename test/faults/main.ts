// `npm run faults -- [--seed N] [--moving N] [--running N] [--built N] [FAULT…]`: strikes the cluster that is up while
// environments are in all stages of their lives, and looks whether each ends where it belongs, with nothing lost and
// nothing left.
import { parseArgs } from 'node:util';
import { runParts, type Part } from '../bench/run-parts.ts';
import { PLACES } from '../bench/report.ts';
import { runMain } from '../cluster/progress.ts';
import { failingHosts } from './failing-hosts.ts';
import { fullDisk, overfullThrowaway } from './full-disk.ts';
import { strikeOnce } from './strike-once.ts';
import { STRIKES } from './strikes.ts';

await runMain(async () => {
  const text = { type: 'string' } as const;
  const { values, positionals } = parseArgs({
    options: { seed: text, moving: text, running: text, built: text },
    allowPositionals: true,
  });
  const { seed: given, ...numbers } = values;
  const seed = given === undefined ? Math.trunc(Date.now() / 1000) : Number(given);
  const sizes = Object.fromEntries(Object.entries(numbers).map(([name, value]) => [name, Number(value)]));
  const parts = new Map<string, Part>([
    ...[...STRIKES].map(([name, strike]): [string, Part] => [
      name,
      (progress) => strikeOnce(strike, sizes, seed, progress),
    ]),
    ['git-hosts-failing', (progress) => failingHosts(seed, progress)],
    ['builder-disk-full', fullDisk],
    ['throwaway-disk-full', overfullThrowaway],
  ]);
  await runParts({ all: parts, sized: new Map() }, positionals, PLACES.faults);
});
