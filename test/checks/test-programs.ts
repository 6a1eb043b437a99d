import { installDebianPackages, isDebianRoot } from '../cluster/debian-packages.ts';
import { Problem } from '../cluster/problem.ts';
import { tryRun } from '../cluster/run.ts';

/**
 * Programs that the tests run outside the cluster (a real Redis, browser and SSH server), with Debian's package for
 * each.
 */
export const TEST_PROGRAMS = { 'redis-server': 'redis-server', chromium: 'chromium', sshd: 'openssh-server' };

/** Installs missing programs; throws with instructions if that is not possible. */
export async function ensureTestPrograms(): Promise<void> {
  const find = 'PATH="$PATH:/usr/sbin:/usr/local/sbin" command -v "$1"';
  const found = await Promise.all(
    Object.keys(TEST_PROGRAMS).map((program) => tryRun('sh', ['-c', find, 'sh', program])),
  );
  const missing = Object.values(TEST_PROGRAMS).filter((_package, index) => found[index] === undefined);
  if (missing.length === 0) return;
  if (!isDebianRoot()) throw new Problem(`The tests need ${missing.join(' and ')}: install them, then run this again.`);
  console.log(`== installing ${missing.join(' and ')}`);
  await installDebianPackages(missing, () => undefined);
}
