// Prints the SBOM (CycloneDX) of the image's npm packages: `npm run --silent sbom > sbom.json`. It is created from the
// lock file and the installed packages, without a network, and is reproducible. With `--check`, verifies instead that
// the SBOM is complete: each locked package that is not only for development, with its hash and license.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { REPOSITORY_ROOT } from '../support/paths.ts';
import { lockSchema, missingFrom, runtimeDocument } from './sbom-document.ts';

const args = ['sbom', '--sbom-format', 'cyclonedx', '--sbom-type', 'application', '--loglevel', 'error'];
const { stdout, status, stderr } = spawnSync('npm', args, {
  cwd: REPOSITORY_ROOT,
  encoding: 'utf8',
  maxBuffer: 2 ** 26,
});
if (status !== 0) throw new Error(`npm sbom failed: ${stderr}`);
const lock = lockSchema.parse(JSON.parse(readFileSync(join(REPOSITORY_ROOT, 'package-lock.json'), 'utf8')));
const document = runtimeDocument(stdout, lock);
if (process.argv.includes('--check')) {
  const missing = missingFrom(document, lock);
  for (const what of missing) process.stderr.write(`${what}\n`);
  process.stdout.write(`${document.components.length} components, ${missing.length} problems\n`);
  process.exitCode = missing.length > 0 ? 1 : 0;
} else {
  process.stdout.write(`${JSON.stringify(document, null, 2)}\n`);
}
