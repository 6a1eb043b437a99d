// Scans the locked npm packages for known vulnerabilities with osv-scanner, without a network: `npm run scan`. The database is a
// snapshot of osv.dev in a folder (`--database`, by default in the cache), which `--download` fetches first. Further arguments
// are SBOMs to scan, such as .local/release/coppice-linux-amd64.cdx.json, which also has Debian packages. osv-scanner.toml
// lists accepted vulnerabilities with reason and date. Exits with 1 if there is another one.
import { spawnSync } from 'node:child_process';
import { existsSync, globSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { CACHE_FOLDER, REPOSITORY_ROOT } from '../support/paths.ts';
import { buildPrograms, programPath } from '../cluster/go/programs.ts';
import { Problem } from '../support/problem.ts';
import { runMain, startProgress } from '../support/progress.ts';
import { tryRun } from '../support/run.ts';

async function scannerProgram(): Promise<string> {
  if ((await tryRun('osv-scanner', ['--version'])) !== undefined) return 'osv-scanner';
  await buildPrograms(['osv-scanner'], startProgress());
  return programPath('osv-scanner');
}

await runMain(async () => {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      database: { type: 'string', default: join(CACHE_FOLDER, 'osv') },
      download: { type: 'boolean', default: false },
    },
  });
  const missing = positionals.filter((file) => !existsSync(file));
  if (missing.length > 0) throw new Problem(`There is no ${missing.join(', ')}.`);
  if (!values.download && globSync('**/all.zip', { cwd: values.database }).length === 0) {
    console.log(`not checked: no database in ${values.database}. Fetch one with npm run scan -- --download`);
    return;
  }
  const files = [join(REPOSITORY_ROOT, 'package-lock.json'), ...positionals];
  const args = [
    ...['scan', 'source', '--offline', '--local-db-path', values.database],
    ...(values.download ? ['--download-offline-databases'] : []),
    ...['--config', join(import.meta.dirname, 'osv-scanner.toml')],
    ...files.flatMap((file) => ['--lockfile', file]),
  ];
  const { status, error } = spawnSync(await scannerProgram(), args, { stdio: 'inherit', timeout: 600_000 });
  if (error) throw error;
  // 1 means that vulnerabilities were found; anything else that the scan failed.
  if (status !== 0 && status !== 1) throw new Problem(`osv-scanner failed (exit code ${status ?? 'none'}).`);
  process.exitCode = status;
});
