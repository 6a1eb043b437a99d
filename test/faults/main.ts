// `npm run faults -- [--seed N] [--moving N] [--running N] [--built N] [FAULT…]`: strikes the cluster that is up while
// environments are in all stages of their lives, and looks whether each ends where it belongs, with nothing lost and
// nothing left.
import { runParts, type Part } from '../bench/run-parts.ts';
import { PLACES } from '../bench/report.ts';
import { runMain } from '../cluster/progress.ts';
import { failingHosts } from './failing-hosts.ts';
import { fullDisk, overfullThrowaway } from './full-disk.ts';
import { parseFaultOptions } from './options.ts';
import { strikeOnce } from './strike-once.ts';
import { STRIKES } from './strikes.ts';

await runMain(async () => {
  const { seed = Math.trunc(Date.now() / 1000), sizes, parts: chosen } = parseFaultOptions(process.argv.slice(2));
  const parts = new Map<string, Part>([
    ...[...STRIKES].map(([name, strike]): [string, Part] => [
      name,
      (progress) => strikeOnce(strike, sizes, seed, progress),
    ]),
    ['git-hosts-failing', (progress) => failingHosts(seed, progress)],
    ['builder-disk-full', fullDisk],
    ['throwaway-disk-full', overfullThrowaway],
  ]);
  await runParts({ all: parts, sized: new Map() }, chosen, PLACES.faults);
});
