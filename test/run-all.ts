// `npm test` runs all checks, concurrently where possible; the last line is the result. With `--full` (`npm run
// test:full`) it also runs the long suites, and stores the outcome in test/full-results.json; `--full
// --continue` continues an interrupted full run of the same commit, and skips its finished steps.
import { existsSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { CACHE_FOLDER, KUBECONFIG_FILE, LOCAL_FOLDER, REPOSITORY_ROOT } from './support/paths.ts';
import { FinishedSteps, type FinishedStep } from './checks/finished-steps.ts';
import { cleanCommit, writeFullResults } from './checks/full-results.ts';
import { readJestResults, type JestResults, type SuiteResult } from './checks/jest-results.ts';
import { ensureTestPrograms, FULL_TEST_PROGRAMS, TEST_PROGRAMS } from './checks/test-programs.ts';
import { outcomeOf, summaryOf, totalOf, type Outcome } from './checks/outcome.ts';
import { showRun, type ShowRunOptions } from './checks/show-run.ts';
import { Problem } from './support/problem.ts';
import { runMain } from './support/progress.ts';

const isFull = process.argv.includes('--full');
const isContinued = process.argv.includes('--continue');
const started = new Date();
const results = join(LOCAL_FOLDER, 'test-results');
const suites: SuiteResult[] = [];
/** Suites that failed while other suites ran; `secondAttempt` runs them again. */
const failedSuites: SuiteResult[] = [];

type Priority = Pick<ShowRunOptions, 'niceness'>;

/** The priority of programs that run beside the end-to-end tests, which have deadlines. */
const background: Priority = { niceness: 5 };
/** The priority of programs that mostly compute: they use what others leave. */
const idle: Priority = { niceness: 10 };

/** Stored steps; only a full run has them. */
let finished: FinishedSteps | undefined;

/** Runs a step of the run, unless an interrupted run that this one continues has finished it. */
async function step(name: string, run: () => Promise<FinishedStep>): Promise<Outcome> {
  const before = finished?.find(name);
  if (before) console.log(`\n=== skipped ${name}: it finished before the interruption`);
  const done = before ?? (await run().catch(failed));
  if (!before) finished?.add(name, done, new Date());
  suites.push(...done.suites);
  failedSuites.push(...done.failedSuites);
  return done.outcome;
}

/** Reports an error of a step itself, so that the others go on and are counted. */
function failed(error: unknown): FinishedStep {
  console.error(error);
  return { outcome: { passed: 0, failed: 1 }, suites: [], failedSuites: [] };
}

/** Returns a function that runs a check with this priority. */
function checkWith(priority: Priority) {
  return (name: string, program: string, ...args: string[]): Promise<Outcome> =>
    step(name, async () => {
      const outcome = outcomeOf(name, await showRun(name, program, args, priority));
      return { outcome, suites: [], failedSuites: [] };
    });
}

const check = checkWith({});
const checkIdle = checkWith(idle);

/** Runs a check that is never skipped, since later steps depend on the state that it creates or verifies. */
async function checkState(name: string, program: string, ...args: string[]): Promise<Outcome> {
  return outcomeOf(name, await showRun(name, program, args));
}

/** Runs jest, and returns undefined where it did not even write results. */
async function runJest(
  name: string,
  file: string,
  args: string[],
  priority: Priority = {},
): Promise<JestResults | undefined> {
  rmSync(file, { force: true });
  const env = {
    // Most of what tests allocate is soon garbage.
    NODE_OPTIONS: '--max-semi-space-size=64',
    COPPICE_TEST_KUBECONFIG: KUBECONFIG_FILE,
    ...(isFull && { COPPICE_SEED: String(started.getTime() % 2 ** 31) }),
  };
  await showRun(`tests: ${name}`, 'jest', [...args, '--json', `--outputFile=${file}`], { ...priority, env });
  return existsSync(file) ? readJestResults(file) : undefined;
}

/** Runs some of jest's projects, and counts their tests; those of failed suites are counted by `secondAttempt`. */
function jest(projects: string[], workers: number, priority: Priority = {}): Promise<Outcome> {
  const name = projects.join(' and ');
  return step(`tests: ${name}`, async () => {
    const file = join(results, `${projects.join('-')}.json`);
    const ran = await runJest(name, file, ['--selectProjects', ...projects, `--maxWorkers=${workers}`], priority);
    if (ran === undefined) return { outcome: { passed: 0, failed: 1 }, suites: [], failedSuites: [] };
    const passed = ran.suites.filter((suite) => suite.failed === 0);
    return {
      outcome: { passed: passed.reduce((total, suite) => total + suite.passed, 0), failed: 0 },
      suites: passed,
      failedSuites: ran.suites.filter((suite) => suite.failed > 0),
    };
  });
}

/**
 * Runs failed suites once more, alone: a deadline that only load exceeded is then met, while a fault fails again.
 * Reports suites that pass only now, because they may contain a race.
 */
async function secondAttempt(): Promise<Outcome> {
  if (failedSuites.length === 0) return { passed: 0, failed: 0 };
  const files = failedSuites.map(({ suite }) => suite);
  const name = 'second attempt';
  const ran = await runJest(name, join(results, 'second-attempt.json'), ['--runInBand', '--runTestsByPath', ...files]);
  const outcome = ran ?? { passed: 0, failed: files.length, suites: failedSuites };
  suites.push(...outcome.suites.map((suite) => ({ ...suite, attempts: 2 })));
  for (const { suite, failed } of outcome.suites)
    if (failed === 0) console.log(`passed at the second attempt: ${suite}`);
  return outcome;
}

/** Runs the checks that need neither Jest nor a server. */
async function staticChecks(): Promise<Outcome[]> {
  return [
    await checkIdle('format', 'oxfmt', '--check', '.'),
    // oxlint checks each file by the nearest tsconfig.json, in less time than tsc and itself. It does not check by the
    // panel's settings what the panel imports; a full run also runs tsc for the rest.
    await checkIdle('lint and types', 'oxlint', '--type-check'),
    await checkIdle('types of the panel', 'tsc', '--noEmit', '--project', 'panel'),
    ...(isFull ? [await checkIdle('types', 'tsc', '--noEmit')] : []),
    await checkIdle('generated files', 'node', 'crds/generate.ts', '--check'),
    await checkIdle('generated schema', 'node', 'service-file/generate.ts', '--check'),
    await checkIdle('docs', 'node', 'test/docs/check.ts'),
    await checkIdle('licenses', 'node', 'test/supply-chain/licenses.ts', '--check'),
    await checkIdle('vulnerabilities', 'node', 'test/supply-chain/audit.ts'),
    await checkIdle('bill of materials', 'node', 'test/supply-chain/sbom.ts', '--check'),
  ];
}

/** Runs tests that start their own servers, some from images, which exist once the cluster is ready. */
async function withOwnServers(): Promise<Outcome[]> {
  return [
    await jest(['memory'], 1, background),
    await jest(['ssh'], 1, background),
    await jest(['redis'], 1, background),
    await jest(['registry'], 1, background),
  ];
}

/** Runs tests that use the cluster's API server, and not Coppice. */
async function withApiServer(): Promise<Outcome[]> {
  return [await jest(['api-server', 'chart'], isFull ? 2 : 1, background)];
}

/** Runs long tests that need nothing of Coppice on the cluster. */
async function longWithoutCoppice(): Promise<Outcome[]> {
  return [
    await jest(['chromium'], 1),
    await jest(['nginx'], 1),
    await jest(['git-hosts'], 1),
    await jest(['api-server-long'], 1),
    await check('alerts and dashboard, by promtool', 'node', 'test/chart/promtool.ts'),
    await check('the vulnerability scan, of a simulated database', 'node', 'test/supply-chain/try-scan.ts'),
    // Kubernetes' suite waits for most of its time, more than ten minutes.
    await jest(['network-policies'], 1),
  ];
}

async function cluster(): Promise<Outcome[]> {
  const options = ['--fixture-images', ...(isFull ? ['--gitea', '--metrics'] : [])];
  return [
    await checkState('the cluster, Coppice on it, and the sample', 'node', 'test/cluster/up.ts', ...options),
    await checkState('no leftovers of an interrupted run', 'node', 'test/checks/nothing-left.ts', '--take-away'),
  ];
}

/**
 * Runs the end-to-end tests. Suites do not wait until their objects are gone, unless they test that: it is checked for
 * all at the end.
 */
async function endToEndTests(): Promise<Outcome[]> {
  return [
    ...(isFull ? await longEndToEndTests() : [await jest(['end-to-end'], 5)]),
    await checkState('no leftovers of the tests', 'node', 'test/checks/nothing-left.ts'),
  ];
}

async function longEndToEndTests(): Promise<Outcome[]> {
  return [
    // The long tests build more, and five of them at once miss each other's deadlines on two cores.
    await jest(['end-to-end', 'end-to-end-long'], 3),
    // They stop the operator, so that tests beside them would miss their deadlines.
    await jest(['end-to-end-disruptive'], 1),
    // They mostly wait, so that other long tests have a core.
    ...(await Promise.all([oneAtATime(), longWithoutCoppice()])).flat(),
  ];
}

/** Runs what causes too much load for other end-to-end tests, or ends a replica that they use. */
async function oneAtATime(): Promise<Outcome[]> {
  return [
    await jest(['end-to-end-alone'], 1),
    await check('a release, twice, verified and installed', 'node', 'test/release/try.ts'),
    await check('npm run up where images are pulled', 'node', 'test/pulled-images/main.ts'),
    await check('a cluster of three nodes', 'node', 'test/nodes/main.ts'),
    await check('a cluster with IPv4 and IPv6', 'node', 'test/ip-families/main.ts', 'dual'),
    await check('a cluster with IPv6 only', 'node', 'test/ip-families/main.ts', 'ipv6'),
    await check('the OpenAPI document, by Schemathesis', 'node', 'test/contract/schemathesis.ts'),
    await check('two replicas of the API', 'node', 'test/contract/replicas.ts'),
  ];
}

process.chdir(REPOSITORY_ROOT);
// Checks and tests start programs of this repository hundreds of times.
process.env['NODE_COMPILE_CACHE'] = join(CACHE_FOLDER, 'compiled');
rmSync(results, { recursive: true, force: true });
mkdirSync(results, { recursive: true });
let commit: string | undefined;
await runMain(async () => {
  if (isContinued && !isFull) throw new Problem('--continue continues a full run only. Add --full.');
  if (isFull) {
    commit = await cleanCommit();
    const file = join(LOCAL_FOLDER, 'full-run.json');
    finished = isContinued ? FinishedSteps.continue(file, commit, started) : FinishedSteps.start(file, commit, started);
  }
  await ensureTestPrograms(isFull ? FULL_TEST_PROGRAMS : TEST_PROGRAMS);
});
if (process.exitCode !== undefined) {
  console.log('0 passed, 1 failed');
  process.exit();
}
// Lanes run beside the end-to-end tests, so that both processors are busy until the end. A full run first finishes all
// lanes except that of the API server.
const checks = staticChecks();
const buildArgs = ['test/checks/build-locally.ts', ...(isFull ? ['--full'] : [])];
const build = await checkState('build local images', 'node', ...buildArgs);
const unit = jest(['unit'], 2, idle);
const up = await cluster();
const servers = withOwnServers();
if (isFull) await Promise.all([checks, unit, servers]);
const [endToEnd, unitTests, ...others] = await Promise.all([endToEndTests(), unit, checks, servers, withApiServer()]);
const outcome = totalOf([build, ...others.flat(), unitTests, ...up, ...endToEnd, await secondAttempt()]);
if (commit !== undefined && finished) {
  writeFullResults(commit, finished, outcome, suites);
  finished.remove();
}
for (const line of summaryOf(outcome)) console.log(line);
process.exitCode = outcome.failed > 0 ? 1 : 0;
