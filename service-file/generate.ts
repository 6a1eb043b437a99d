// Writes the JSON schema of x-coppice for editors. With `--check`, changes nothing and fails if the file is stale.
import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { format, resolveConfig } from 'prettier';
import { z } from 'zod';
import { extendedFile } from './x-coppice.ts';

const file = join(import.meta.dirname, '../docs/reference/x-coppice.schema.json');

// All other keys are defined by the Compose Specification's schema.
const schema = z.toJSONSchema(extendedFile, { target: 'draft-7', io: 'input' });
const options = await resolveConfig(file);
const text = await format(JSON.stringify(schema), { ...options, parser: 'json' });
const before = existsSync(file) ? await readFile(file, 'utf8') : '';
if (before !== text) {
  if (process.argv.includes('--check')) {
    process.stderr.write(`${file} is stale: run \`npm run generate\`\n`);
    process.exitCode = 1;
  } else {
    await writeFile(file, text);
  }
}
