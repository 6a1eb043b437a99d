// `npm run faults -- [--seed N] [--moving N] [--running N] [--built N] [FAULT…]` injects faults into the running
// cluster while environments are in all stages of their lifecycle, and verifies that each settles in its expected
// state, with nothing lost and nothing left.
import { runParts, type Part } from '../bench/run-parts.ts';
import { REPORTS } from '../bench/report.ts';
import { runMain } from '../support/progress.ts';
import { failingHosts } from './failing-hosts.ts';
import { fullDisk, overfullEphemeral } from './full-disk.ts';
import { parseFaultOptions } from './options.ts';
import { injectOnce } from './inject-once.ts';
import { FAULTS } from './fault-list.ts';
import { killedWhileWaking, restartedWhileAsleep } from './sleeping.ts';

await runMain(async () => {
  const { seed = Math.trunc(Date.now() / 1000), sizes, parts: chosen } = parseFaultOptions(process.argv.slice(2));
  const parts = new Map<string, Part>([
    ...[...FAULTS].map(([name, inject]): [string, Part] => [
      name,
      (progress) => injectOnce(inject, sizes, seed, progress),
    ]),
    ['git-hosts-failing', (progress) => failingHosts(seed, progress)],
    ['builder-disk-full', fullDisk],
    ['ephemeral-disk-full', overfullEphemeral],
    ['waker-killed', killedWhileWaking('waker')],
    ['operator-killed-while-waking', killedWhileWaking('operator')],
    ['node-restarted-while-asleep', restartedWhileAsleep],
  ]);
  await runParts({ all: parts, sized: new Map() }, chosen, REPORTS.faults);
});
