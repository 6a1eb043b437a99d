// Writes the CRD YAML that the chart installs, and the reference page of each kind. `--check` changes nothing and fails
// when a file is stale.
import { existsSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { stringify } from 'yaml';
import { formatted } from '../oxfmt.config.ts';
import { customResourceDefinitions } from './crd.ts';
import { referencePage } from './reference.ts';

const root = join(import.meta.dirname, '..');
const check = process.argv.includes('--check');
let stale = 0;

async function keep(path: string, text: string): Promise<void> {
  const file = join(root, path);
  const before = existsSync(file) ? await readFile(file, 'utf8') : '';
  if (before === text) return;
  stale += 1;
  if (check) {
    process.stderr.write(`${file} is stale: run \`npm run generate\`\n`);
    return;
  }
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, text);
}

for (const { plural, kind, definition } of customResourceDefinitions()) {
  const head = '# Generated from crds/ by `npm run generate`; do not edit.';
  await keep(
    `charts/coppice/files/crds/${plural}.yaml`,
    `${head}\n${stringify(definition, { aliasDuplicateObjects: false })}`,
  );
  const page = `docs/reference/fields/${kind.replace(/(?<=[a-z])(?=[A-Z])/g, '-').toLowerCase()}.md`;
  await keep(page, await formatted(page, referencePage(definition)));
}
process.exitCode = check && stale > 0 ? 1 : 0;
