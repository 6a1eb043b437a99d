// `npm run -s check -- FILE [--variables FILE]` prints, as JSON, whether Coppice would run a service file. Exits with 0
// if it would, 1 if it would not, and 2 for wrong arguments.
import { readFile } from 'node:fs/promises';
import { statSync } from 'node:fs';
import { basename, dirname, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { DotenvError, parseDotenv } from './load/dotenv.ts';
import { localFolder } from './local-folder.ts';
import { EXAMPLE_FACTS, OwnVariables } from './own-variables.ts';
import { readServiceFile } from './parse.ts';
import type { Variables } from './variables.ts';

const usage = 'usage: npm run -s check -- FILE [--variables FILE]';

/** An error of which only the message is shown to the user. */
class UsageError extends Error {}

/** Resolves a path relative to the folder in which npm was started. */
function pathOf(name: string): string {
  const path = resolve(process.env['INIT_CWD'] ?? '.', name);
  if (statSync(path, { throwIfNoEntry: false })?.isFile() !== true) throw new UsageError(`there is no file ${name}`);
  return path;
}

function readArguments(args: string[]): { file: string; variables: string | undefined } {
  try {
    const { positionals, values } = parseArgs({
      args,
      allowPositionals: true,
      options: { variables: { type: 'string' } },
    });
    const [file, ...rest] = positionals;
    if (file === undefined || rest.length > 0) throw new UsageError(usage);
    return { file: pathOf(file), variables: values.variables === undefined ? undefined : pathOf(values.variables) };
  } catch (error) {
    if (error instanceof UsageError || !(error instanceof TypeError)) throw error;
    throw new UsageError(`${error.message}\n${usage}`);
  }
}

async function readVariables(file: string | undefined): Promise<Variables> {
  if (file === undefined) return new Map();
  try {
    return parseDotenv(await readFile(file, 'utf8'), new Map(), (line, message) => {
      process.stderr.write(`${file}:${line}: ${message}\n`);
    });
  } catch (error) {
    if (error instanceof DotenvError) throw new UsageError(`${file}:${error.line}: ${error.message}`);
    throw error;
  }
}

async function main(): Promise<number> {
  const { file, variables } = readArguments(process.argv.slice(2));
  const { serviceFile, warnings, errors } = await readServiceFile({
    files: localFolder(dirname(file)),
    variables: await readVariables(variables),
    own: new OwnVariables(EXAMPLE_FACTS),
    settings: { mode: 'repo' },
    path: basename(file),
  });
  const answer = { services: serviceFile?.services ?? [], warnings, errors };
  process.stdout.write(`${JSON.stringify(answer, undefined, 2)}\n`);
  return serviceFile === undefined ? 1 : 0;
}

try {
  process.exitCode = await main();
} catch (error) {
  if (!(error instanceof UsageError)) throw error;
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 2;
}
