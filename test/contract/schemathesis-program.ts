import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { CACHE_FOLDER } from '../support/paths.ts';
import { messageOf, Problem } from '../support/problem.ts';
import { recipeHash } from '../cluster/recipe.ts';
import { run, tryRun } from '../support/run.ts';

const requirements = join(import.meta.dirname, 'requirements.txt');

/**
 * Installs Schemathesis, with the versions of requirements.txt, in a separate Python environment in the cache, unless
 * it is there.
 * @returns the program's path
 * @throws Problem without Python 3.10, or if PyPI cannot be reached
 */
export async function schemathesisProgram(): Promise<string> {
  const folder = join(CACHE_FOLDER, `schemathesis-${recipeHash([requirements], []).slice(0, 12)}`);
  const program = join(folder, 'bin/schemathesis');
  if (existsSync(program)) return program;
  const isNewEnough = ['-c', 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 10))'];
  if ((await tryRun('python3', isNewEnough)) === undefined) {
    throw new Problem('Schemathesis needs Python 3.10 or newer with venv: install python3 and python3-venv.');
  }
  rmSync(folder, { recursive: true, force: true });
  try {
    await run('python3', ['-m', 'venv', folder]);
    await run(join(folder, 'bin/pip'), ['install', '--quiet', '--requirement', requirements], { deadline: 240 });
  } catch (error) {
    rmSync(folder, { recursive: true, force: true });
    throw new Problem(`Schemathesis cannot be installed from PyPI: ${messageOf(error)}`, { cause: error });
  }
  return program;
}
