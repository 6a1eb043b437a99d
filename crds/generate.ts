// Writes the CRD YAML that the chart installs. `--check` changes nothing and fails when a file is stale.
import { existsSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { customResourceDefinitions } from './crd.ts';

const folder = join(import.meta.dirname, '../charts/coppice/files/crds');
const check = process.argv.includes('--check');

await mkdir(folder, { recursive: true });
let stale = 0;
for (const { plural, definition } of customResourceDefinitions()) {
  const file = join(folder, `${plural}.yaml`);
  const text = `# Generated from crds/ by \`npm run generate\`; do not edit.\n${stringify(definition)}`;
  const before = existsSync(file) ? await readFile(file, 'utf8') : '';
  if (before === text) continue;
  stale += 1;
  if (check) process.stderr.write(`${file} is stale: run \`npm run generate\`\n`);
  else await writeFile(file, text);
}
process.exitCode = check && stale > 0 ? 1 : 0;
