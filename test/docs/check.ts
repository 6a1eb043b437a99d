// Verifies the documentation's statements: links resolve, shell code parses, service files are valid, and the messages
// that docs/how-to/troubleshoot.md quotes are the program's own. Exits with 1 on a failure.
import { spawnSync } from 'node:child_process';
import { existsSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { parse } from 'yaml';
import { z } from 'zod';
import { localFolder } from '../../service-file/local-folder.ts';
import { EXAMPLE_FACTS, OwnVariables } from '../../service-file/own-variables.ts';
import { readServiceFile } from '../../service-file/parse.ts';
import { REPOSITORY_ROOT } from '../support/paths.ts';
import { codeBlocks } from './code-blocks.ts';
import { anchorsOf, linksOf } from './links.ts';
import { missingMessages } from './messages.ts';
import { unportableCommands } from './portability.ts';

const pages = globSync(['*.md', '{docs,kubernetes,examples,charts}/**/*.md'], { cwd: REPOSITORY_ROOT }).sort();
const read = (path: string) => readFileSync(join(REPOSITORY_ROOT, path), 'utf8');
const problems: string[] = [];

function checkLinks(page: string): void {
  for (const { path, anchor, line } of linksOf(read(page))) {
    const target = path === '' ? page : join(dirname(page), decodeURI(path));
    const at = `${page}:${line}`;
    if (!existsSync(join(REPOSITORY_ROOT, target))) problems.push(`${at}: there is no ${target}`);
    else if (anchor !== '' && target.endsWith('.md') && !anchorsOf(read(target)).has(anchor)) {
      problems.push(`${at}: ${target} has no heading #${anchor}`);
    }
  }
}

function checkShell(page: string): void {
  for (const { language, code } of codeBlocks(read(page))) {
    if (language !== 'sh') continue;
    const { status, stderr } = spawnSync('sh', ['-n'], { input: code, encoding: 'utf8' });
    if (status !== 0) problems.push(`${page}: a block of shell: ${stderr.trim()}`);
  }
}

const buildsSchema = z.object({
  services: z.record(
    z.string(),
    z.looseObject({
      build: z
        .union([
          z.string().transform((context) => ({ context, dockerfile: 'Dockerfile' })),
          z.looseObject({ context: z.string(), dockerfile: z.string().default('Dockerfile') }),
        ])
        .optional(),
    }),
  ),
});

/** Creates the Dockerfiles that a page's service file builds from. */
function makeContexts(folder: string, code: string): void {
  for (const { build } of Object.values(buildsSchema.parse(parse(code)).services)) {
    if (!build) continue;
    const file = join(folder, build.context, build.dockerfile);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, 'FROM scratch\n');
  }
}

/** Checks the service files of a page that are marked as complete. */
async function checkServiceFiles(page: string): Promise<void> {
  for (const { name, code } of codeBlocks(read(page))) {
    if (name !== 'compose') continue;
    const folder = mkdtempSync(join(tmpdir(), 'docs-'));
    try {
      writeFileSync(join(folder, 'compose.yaml'), code);
      makeContexts(folder, code);
      const files = localFolder(folder);
      const { warnings, errors } = await readServiceFile({
        ...{
          files,
          variables: new Map<string, never>(),
          own: new OwnVariables(EXAMPLE_FACTS),
          settings: { mode: 'repo' },
          path: 'compose.yaml',
        },
      });
      for (const reported of [...warnings, ...errors])
        problems.push(`${page}: a service file: ${JSON.stringify(reported)}`);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  }
}

function source(): string {
  const files = globSync('{operator,api,service-file,crds,waker}/**/*.ts', { cwd: REPOSITORY_ROOT });
  return files
    .filter((file) => !file.endsWith('.test.ts'))
    .map(read)
    .join('\n');
}

/** Checks that no page cites the contract, which is not in the repository: a page states the rule itself. */
function checkCitations(page: string): void {
  if (/contract section \d/i.test(read(page)))
    problems.push(`${page}: cites a section of the contract, which is not here`);
}

for (const page of pages) {
  checkLinks(page);
  checkCitations(page);
  checkShell(page);
  for (const problem of unportableCommands(read(page))) problems.push(`${page}: ${problem}`);
  await checkServiceFiles(page);
}
const troubleshooting = 'docs/how-to/troubleshoot.md';
for (const message of missingMessages(read(troubleshooting), source())) {
  problems.push(`${troubleshooting}: no source file has "${message}"`);
}
for (const problem of problems) process.stderr.write(`${problem}\n`);
process.stdout.write(`${pages.length} pages, ${problems.length} problems\n`);
process.exitCode = problems.length > 0 ? 1 : 0;
