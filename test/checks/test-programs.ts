import { installDebianPackages, isDebianRoot } from '../cluster/debian-packages.ts';
import { Problem } from '../cluster/problem.ts';
import { tryRun } from '../cluster/run.ts';

/** What the tests run beside the cluster: a real Redis, a real browser, by their Debian packages. */
const programs = ['redis-server', 'chromium'];

/** Installs what is missing; where that cannot be, says what to install. */
export async function ensureTestPrograms(): Promise<void> {
  const found = await Promise.all(programs.map((program) => tryRun('sh', ['-c', `command -v ${program}`])));
  const missing = programs.filter((_program, index) => found[index] === undefined);
  if (missing.length === 0) return;
  if (!isDebianRoot()) throw new Problem(`The tests need ${missing.join(' and ')}: install them, then run this again.`);
  console.log(`== installing ${missing.join(' and ')}`);
  await installDebianPackages(missing, () => undefined);
}
