// Writes the JSON schema of x-coppice for editors. With `--check`, changes nothing and fails if the file is stale.
import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { formatted } from '../oxfmt.config.ts';
import { extendedFile } from './x-coppice.ts';

const file = join(import.meta.dirname, '../docs/reference/x-coppice.schema.json');

// All other keys are defined by the Compose Specification's schema.
const schema = z.toJSONSchema(extendedFile, { target: 'draft-7', io: 'input' });
const text = await formatted(file, JSON.stringify(schema));
const before = existsSync(file) ? await readFile(file, 'utf8') : '';
if (before !== text) {
  if (process.argv.includes('--check')) {
    process.stderr.write(`${file} is stale: run \`npm run generate\`\n`);
    process.exitCode = 1;
  } else {
    await writeFile(file, text);
  }
}
