// `npm test`: every check there is. What needs no cluster runs while the cluster comes up; the last line counts.
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { kubeconfigFile, localFolder, repositoryRoot } from './cluster/paths.ts';
import { ensureTestPrograms } from './checks/test-programs.ts';
import { showRun, type Outcome } from './checks/show-run.ts';
import { runMain } from './cluster/progress.ts';

const results = join(localFolder, 'test-results');
rmSync(results, { recursive: true, force: true });
mkdirSync(results, { recursive: true });

const countSchema = z.object({ numPassedTests: z.int(), numFailedTests: z.int(), numFailedTestSuites: z.int() });

async function check(name: string, program: string, ...args: string[]): Promise<Outcome> {
  const { ok } = await showRun(name, program, args);
  return { passed: ok ? 1 : 0, failed: ok ? 0 : 1 };
}

/** Runs some of jest's projects, counted test by test; a suite that could not run counts as one that failed. */
async function jest(projects: string[], workers: number): Promise<Outcome> {
  const name = projects.join(' and ');
  const file = join(results, `${projects.join('-')}.json`);
  const args = ['--selectProjects', ...projects, `--maxWorkers=${workers}`, '--json', `--outputFile=${file}`];
  await showRun(`tests: ${name}`, 'jest', args, {
    NODE_OPTIONS: '--experimental-vm-modules --disable-warning=ExperimentalWarning',
    COPPICE_TEST_KUBECONFIG: kubeconfigFile,
  });
  if (!existsSync(file)) return { passed: 0, failed: 1 };
  const counts = countSchema.parse(JSON.parse(readFileSync(file, 'utf8')));
  const failed = Math.max(counts.numFailedTests, counts.numFailedTestSuites > 0 ? 1 : 0);
  return { passed: counts.numPassedTests, failed };
}

async function withoutCluster(): Promise<Outcome[]> {
  return [
    await check('format', 'prettier', '--check', '.'),
    await check('types', 'tsc', '--noEmit'),
    await check('lint', 'eslint', '.'),
    await check('generated files', 'node', 'crds/generate.ts', '--check'),
    await jest(['unit'], 1),
    await jest(['redis'], 1),
  ];
}

async function cluster(): Promise<Outcome[]> {
  return [await check('the cluster, Coppice on it, and the sample', 'node', 'test/cluster/up.ts')];
}

process.chdir(repositoryRoot);
await runMain(ensureTestPrograms);
const before = (await Promise.all([withoutCluster(), cluster()])).flat();
const outcomes = [...before, await jest(['api-server'], 2), await jest(['end-to-end'], 4)];
const sum = (key: keyof Outcome) => outcomes.reduce((total, outcome) => total + outcome[key], 0);
console.log(`${sum('passed')} passed, ${sum('failed')} failed`);
process.exitCode = sum('failed') > 0 ? 1 : 0;
