import { findCondition, mergeConditions, type ConditionReport } from '../../../crds/conditions.ts';
import { environmentSchema, type Environment } from '../../../crds/environment.ts';
import { TESTED, type KeptRuns, type TestRun, type TestsStatus } from '../../../crds/environment-tests.ts';
import { isForbidden, isInvalid, isNotFound } from '../../../kubernetes/api-error.ts';
import type { ReconcileResult } from '../../../kubernetes/controller.ts';
import type { Informer } from '../../../kubernetes/informer.ts';
import type { EnvironmentTest } from '../../../service-file/schema.ts';
import type { Flows } from '../../source/hosts/flows.ts';
import { rejectedByKubernetes } from '../../shared/errors.ts';
import { parseObject } from '../../shared/parse-object.ts';
import type { StatusWriter } from '../../shared/status-writer.ts';
import { withFinding } from './history.ts';
import { canStart, isAnythingReported, isOfRound, isOver, isRunOver, wantedRound, type Round } from './round.ts';
import type { RunSecrets } from './run-secrets.ts';
import { ended, followRun, startRun, type SteppedRun, type Tester } from './run-step.ts';
import { testedReport, unknown, type Diagnosis } from './summary.ts';
import { leftToSettleMs, requeueAfterMs, isOverdue, OVERDUE_WORDS } from './times.ts';
import { isOfTester, diagnosisOf } from './diagnosis.ts';

export interface TestsReconcilerOptions {
  environments: Pick<Informer<Environment>, 'get'>;
  flows: Pick<Flows, 'ofNamespace'>;
  /** Returns the tests in the deployed service file; undefined if it cannot be read. */
  testsOf: (environment: Environment) => Promise<readonly EnvironmentTest[] | undefined>;
  secrets: Pick<RunSecrets, 'read' | 'write' | 'writeHistory' | 'remove'>;
  /** Returns the headers with which the tester can open an environment. */
  headersFor: (environment: Environment) => Readonly<Record<string, string>>;
  /** Undefined if tests are disabled. */
  tester: Tester | undefined;
  /** Writes only the status field `tests` and the condition `Tested`. */
  statuses: Pick<StatusWriter<Environment>, 'write'>;
  now: () => Date;
}

const off = unknown(
  'TesterOff',
  'the service file has tests, which are disabled in this installation (tester.enabled)',
);
const unreadable = unknown(
  'RevisionUnknown',
  'the services were set up by another version of Coppice. Request a build',
);

/** Runs the tests of a service file once for each build that became ready, and again on request. */
export class TestsReconciler {
  readonly #options: TestsReconcilerOptions;

  constructor(options: TestsReconcilerOptions) {
    this.#options = options;
  }

  async reconcile(key: string): Promise<ReconcileResult> {
    const { environments, tester, testsOf, now } = this.#options;
    const found = environments.get(key);
    if (!found || found.metadata.deletionTimestamp !== undefined) return {};
    // A copy, because other code compares the cached object with its successor.
    const { object: environment, problem } = parseObject(environmentSchema, found);
    if (problem) return {};
    const round = wantedRound(environment);
    if (!round) return this.#forget(environment);
    const { tests } = environment.status ?? {};
    const started = tests && isOfRound(tests, round) ? tests : undefined;
    if (started && isOver(started)) return {};
    // Running tests can be neither followed nor started: end them, so that the commit status does not stay pending
    // forever.
    const cannot = async (why: ConditionReport) => {
      if (!started) return this.#write(environment, tests, why);
      const over = { ...started, runs: started.runs.map((run) => giveUp(run, why.message, now())) };
      return this.#write(environment, over, testedReport(over));
    };
    if (!tester) return cannot(off);
    if (!started) {
      // A running build would change the services during the tests; they run after it.
      if (!canStart(environment)) return {};
      const { deployed, sleep } = environment.status ?? {};
      const settleMs = leftToSettleMs([deployed?.finishedAt, sleep?.since], now());
      if (settleMs > 0) return { requeueAfterMs: settleMs };
    }
    const named = await testsOf(environment);
    if (!named) return cannot(unreadable);
    return this.#advance(environment, tester, named, started ?? start(round, named, now()));
  }

  async #advance(
    environment: Environment,
    tester: Tester,
    named: readonly EnvironmentTest[],
    before: TestsStatus,
  ): Promise<ReconcileResult> {
    const { now } = this.#options;
    const runs = [...before.runs];
    const requeue = (isFailing: boolean) => ({ requeueAfterMs: requeueAfterMs(before, now(), isFailing) });
    try {
      await this.#stepAll(environment, tester, named, before, runs);
    } catch (error) {
      // Reports the failure with the time of its start, so that the tests end at their deadline.
      if (await this.#report(environment, before, runs, diagnosisOf(error))) return {};
      if (isOfTester(error)) return requeue(true);
      throw error;
    }
    return (await this.#report(environment, before, runs)) ? {} : requeue(false);
  }

  /** Writes the tests and their condition; returns whether all tests have ended. */
  async #report(
    environment: Environment,
    before: TestsStatus,
    runs: readonly TestRun[],
    diagnosis?: Diagnosis,
  ): Promise<boolean> {
    const now = this.#options.now();
    const tests = {
      ...before,
      runs: runs.map((run) => (isOverdue(before, now) ? giveUp(run, OVERDUE_WORDS, now) : run)),
    };
    await this.#write(environment, tests, testedReport(tests, diagnosis));
    return isOver(tests);
  }

  /** Advances each run and updates `runs`; stops at the first failure. */
  async #stepAll(
    environment: Environment,
    tester: Tester,
    named: readonly EnvironmentTest[],
    round: Round,
    runs: TestRun[],
  ): Promise<void> {
    const { secrets, now } = this.#options;
    const stored = await secrets.read(environment);
    const kept: KeptRuns = stored.runs && isOfRound(stored.runs, round) ? stored.runs : keptOf(round);
    // Stored before the first run is started: otherwise the run could be lost and started twice.
    if (kept !== stored.runs) await secrets.write(environment, kept);
    let { history } = stored;
    const { commit } = environment.status?.deployed ?? {};
    for (const [index, run] of runs.entries()) {
      if (isRunOver(run)) continue;
      const { run: after, finding } = await this.#step(environment, tester, named, run, kept);
      if (finding) {
        const of = { build: round.build, ...(commit !== undefined && { commit }), finishedAt: now().toISOString() };
        history = withFinding(history, of, finding);
        // Stored before the status, whose change makes clients read the history.
        await secrets.writeHistory(environment, history);
      }
      runs[index] = after;
    }
  }

  /** Starts the run, continues one that was started, or reads its progress. */
  async #step(
    environment: Environment,
    tester: Tester,
    named: readonly EnvironmentTest[],
    run: TestRun,
    kept: KeptRuns,
  ): Promise<SteppedRun> {
    const { secrets, flows, headersFor, now } = this.#options;
    const over = (why: string): SteppedRun => ({ run: ended(run, 'error', why, now()) });
    const address = Object.hasOwn(kept.runs, run.name) ? kept.runs[run.name] : undefined;
    // Also continues a run that a previous operator started without recording it.
    if (address) return followRun(tester, { ...run, outcome: 'running', id: address.ID }, address, now());
    const definition = named.find(({ name }) => name === run.name);
    if (!definition || run.outcome === 'running') {
      return over('its run is no longer known to the operator. Run the tests again');
    }
    const { webURL, aliases = {} } = environment.status ?? {};
    const url = webURL ?? Object.values(aliases)[0];
    if (url === undefined) {
      return over('the environment has no public service. Publish a port in the service file, then request a build');
    }
    const owner = flows.ofNamespace(environment.metadata.namespace);
    const started = await startRun(tester, run, definition, url, { owner, headers: headersFor(environment) }, now());
    if (!started.address) return { run: started.run };
    kept.runs[run.name] = started.address;
    try {
      await secrets.write(environment, kept);
    } catch (error) {
      // Temporary errors are retried with a new run; a refusal would repeat.
      if (!isForbidden(error) && !isInvalid(error)) throw error;
      return over(rejectedByKubernetes('the Secret with the address of its run', error));
    }
    return { run: started.run };
  }

  /** Removes the status of tests when the contents are deleted, or a build's service file has no tests. */
  async #forget(environment: Environment): Promise<ReconcileResult> {
    if (!isAnythingReported(environment)) return {};
    await this.#options.secrets.remove(environment);
    return this.#write(environment, undefined, undefined);
  }

  async #write(
    environment: Environment,
    tests: TestsStatus | undefined,
    report: ConditionReport | undefined,
  ): Promise<ReconcileResult> {
    const { statuses, now } = this.#options;
    const { status, metadata } = environment;
    const before = findCondition(status?.conditions, TESTED);
    const conditions = report
      ? mergeConditions(before ? [before] : [], [report], metadata.generation ?? 0, now())
      : undefined;
    await statuses
      .write(environment, { ...(tests && { tests }), ...(conditions && { conditions }) })
      .catch((error: unknown) => {
        // The Environment has been deleted meanwhile.
        if (!isNotFound(error)) throw error;
      });
    return {};
  }
}

function start(round: Round, named: readonly EnvironmentTest[], now: Date): TestsStatus {
  const runs = named.map(({ name, type }): TestRun => ({ name, type, outcome: 'pending' }));
  return { ...round, since: now.toISOString(), runs };
}

function keptOf({ build, request }: Round): KeptRuns {
  return { build, ...(request !== undefined && { request }), runs: {} };
}

function giveUp(run: TestRun, why: string, now: Date): TestRun {
  return isRunOver(run) ? run : ended(run, 'error', why, now);
}
