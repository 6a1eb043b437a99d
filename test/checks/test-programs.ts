import { installDebianPackages, isDebianRoot } from '../cluster/machine/debian-packages.ts';
import { Problem } from '../support/problem.ts';
import { tryRun } from '../support/run.ts';

/**
 * Programs that the tests run outside the cluster (a real Redis, browser and SSH server), with Debian's package for
 * each.
 */
export const TEST_PROGRAMS = { 'redis-server': 'redis-server', chromium: 'chromium', sshd: 'openssh-server' };
/** Programs that `npm run test:full` runs too, likewise. */
export const FULL_TEST_PROGRAMS = { ...TEST_PROGRAMS, nginx: 'nginx' };

/** Installs missing programs of these; throws with instructions if that is not possible. */
export async function ensureTestPrograms(programs: Readonly<Record<string, string>>): Promise<void> {
  const find = 'PATH="$PATH:/usr/sbin:/usr/local/sbin" command -v "$1"';
  const found = await Promise.all(Object.keys(programs).map((program) => tryRun('sh', ['-c', find, 'sh', program])));
  const missing = Object.values(programs).filter((_package, index) => found[index] === undefined);
  if (missing.length === 0) return;
  if (!isDebianRoot()) throw new Problem(`The tests need ${missing.join(' and ')}: install them, then run this again.`);
  console.log(`== installing ${missing.join(' and ')}`);
  await installDebianPackages(missing, () => undefined);
}
