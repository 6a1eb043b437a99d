// Verifies that `npm run scan` finds a vulnerability of a locked package without a network, with a simulated database. Exits
// with 1 on a failure.
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { withCleanUp } from '../support/clean-up.ts';
import { REPOSITORY_ROOT } from '../support/paths.ts';
import { Problem } from '../support/problem.ts';
import { runMain } from '../support/progress.ts';
import { run, tryRun } from '../support/run.ts';
import { lockSchema } from './sbom-document.ts';
import { zipOf } from './zip.ts';

const folder = mkdtempSync(join(tmpdir(), 'scan-'));
const args = ['test/supply-chain/scan.ts', '--database', folder];
const options = { cwd: REPOSITORY_ROOT, deadline: 3600 };

function writeDatabase(version: string): void {
  const record = {
    schema_version: '1.6.0',
    id: 'GHSA-simu-late-data',
    modified: '2026-01-01T00:00:00Z',
    published: '2026-01-01T00:00:00Z',
    summary: 'A simulated vulnerability',
    affected: [
      {
        package: { ecosystem: 'npm', name: 'ws' },
        ranges: [{ type: 'SEMVER', events: [{ introduced: '0' }, { last_affected: version }] }],
      },
    ],
  };
  mkdirSync(join(folder, 'osv-scalibr/npm'), { recursive: true });
  writeFileSync(join(folder, 'osv-scalibr/npm/all.zip'), zipOf({ [`${record.id}.json`]: JSON.stringify(record) }));
}

await runMain(() =>
  withCleanUp(
    async () => {
      const absent = await run('node', args, options);
      if (!absent.startsWith('not checked: no database'))
        throw new Problem(`without a database the scan prints: ${absent}`);
      const lock = lockSchema.parse(JSON.parse(readFileSync(join(REPOSITORY_ROOT, 'package-lock.json'), 'utf8')));
      const version = lock.packages['node_modules/ws']?.version ?? '';
      writeDatabase('0.0.1');
      await run('node', args, options);
      writeDatabase(version);
      if ((await tryRun('node', args, options)) !== undefined)
        throw new Problem(`the scan does not find a vulnerability of ws ${version}`);
    },
    () => Promise.resolve(rmSync(folder, { recursive: true, force: true })),
  ),
);
