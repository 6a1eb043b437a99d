import { existsSync, readFileSync } from 'node:fs';
import type { Detail } from '../../support/progress.ts';
import { run, tryRun } from '../../support/run.ts';

/** Returns whether packages can be installed: on Debian or a derivative, as root. */
export function isDebianRoot(): boolean {
  if (process.getuid?.() !== 0 || !existsSync('/etc/os-release')) return false;
  return /^ID(_LIKE)?=.*\bdebian\b/m.test(readFileSync('/etc/os-release', 'utf8'));
}

let last: Promise<void> = Promise.resolve();

/** Installs the Debian packages that are missing. Calls run sequentially, because dpkg takes a lock. */
export function installDebianPackages(names: readonly string[], detail: Detail): Promise<void> {
  const installed = last.then(() => installMissing(names, detail));
  last = installed.catch(() => undefined);
  return installed;
}

async function installMissing(names: readonly string[], detail: Detail): Promise<void> {
  // The command fails when dpkg does not know a package, but still lists the others.
  const listed = await tryRun('sh', [
    '-c',
    'dpkg-query -W -f "\\${Status} \\${Package}\\n" "$@" || true',
    'sh',
    ...names,
  ]);
  const installed = new Set(listed?.match(/(?<=^install ok installed ).*$/gm));
  const missing = names.filter((name) => !installed.has(name));
  if (missing.length === 0) return;
  const env = { DEBIAN_FRONTEND: 'noninteractive' };
  await run('apt-get', ['update', '-q'], { env, detail, deadline: 300 });
  await run('apt-get', ['install', '-y', '-q', '--no-install-recommends', ...missing], { env, detail, deadline: 900 });
}
