import { findCondition, mergeConditions, type ConditionReport } from '../../crds/conditions.ts';
import { environmentSchema, type Environment } from '../../crds/environment.ts';
import { TESTED, type KeptRuns, type TestRun, type TestsStatus } from '../../crds/environment-tests.ts';
import { groupOfNamespace } from '../../crds/ids.ts';
import { isForbidden, isInvalid, isNotFound } from '../../kubernetes/api-error.ts';
import type { ReconcileResult } from '../../kubernetes/controller.ts';
import type { Informer } from '../../kubernetes/informer.ts';
import type { EnvironmentTest } from '../../service-file/schema.ts';
import { parseObject } from '../parse-object.ts';
import type { StatusWriter } from '../status-writer.ts';
import { isAnythingTold, isOfRound, isOver, isRunOver, wantedRound, type Round } from './round.ts';
import type { RunSecrets } from './run-secrets.ts';
import { ended, followRun, startRun, type Tester } from './run-step.ts';
import { testedReport, unknown, type Trouble } from './summary.ts';
import { leftToSettleMs, nextLookMs, isOverdue, overdueWords } from './times.ts';
import { isOfTester, troubleOf } from './trouble.ts';

export interface TestsParts {
  environments: Pick<Informer<Environment>, 'get'>;
  /** The tests that the service file of what runs names; undefined where that cannot be read. */
  testsOf: (environment: Environment) => Promise<readonly EnvironmentTest[] | undefined>;
  secrets: Pick<RunSecrets, 'read' | 'write' | 'remove'>;
  /** Undefined: tests are off. */
  tester: Tester | undefined;
  /** Writes `tests` and the condition `Tested`, and nothing else. */
  statuses: Pick<StatusWriter<Environment>, 'write'>;
  now: () => Date;
}

const off = unknown('TesterOff', 'the service file names tests, which are off in this installation (tester.enabled)');
const unreadable = unknown('VersionUnknown', 'what runs was set up by another version of Coppice: build it again');

/** Has the tests of a service file run once for each build that came up, and again when that is asked for. */
export class TestsReconciler {
  readonly #parts: TestsParts;

  constructor(parts: TestsParts) {
    this.#parts = parts;
  }

  async reconcile(key: string): Promise<ReconcileResult> {
    const { environments, tester, testsOf, now } = this.#parts;
    const found = environments.get(key);
    if (!found || found.metadata.deletionTimestamp !== undefined) return {};
    // A copy: the one in the cache is what others compare the next one with.
    const { object: environment, problem } = parseObject(environmentSchema, found);
    if (problem) return {};
    const round = wantedRound(environment);
    if (!round) return this.#forget(environment);
    const { tests, state } = environment.status ?? {};
    const begun = tests && isOfRound(tests, round) ? tests : undefined;
    if (begun && isOver(begun)) return {};
    // What is under way can neither be followed nor begin: a commit must not wait for it for ever.
    const cannot = async (why: ConditionReport) => {
      if (!begun) return this.#write(environment, tests, why);
      const over = { ...begun, runs: begun.runs.map((run) => giveUp(run, why.message, now())) };
      return this.#write(environment, over, testedReport(over));
    };
    if (!tester) return cannot(off);
    if (!begun) {
      if (environment.spec.suspend) return {};
      // What is built anew now would change under the tests; they are run once it is there.
      if (state !== 'built') return {};
      const settleMs = leftToSettleMs(environment.status?.deployed?.finishedAt, now());
      if (settleMs > 0) return { requeueAfterMs: settleMs };
    }
    const named = await testsOf(environment);
    if (!named) return cannot(unreadable);
    return this.#advance(environment, tester, named, begun ?? begin(round, named, now()));
  }

  async #advance(
    environment: Environment,
    tester: Tester,
    named: readonly EnvironmentTest[],
    before: TestsStatus,
  ): Promise<ReconcileResult> {
    const { now } = this.#parts;
    const runs = [...before.runs];
    const nextLook = (isTroubled: boolean) => ({ requeueAfterMs: nextLookMs(before, now(), isTroubled) });
    try {
      await this.#stepAll(environment, tester, named, before, runs);
    } catch (error) {
      // Told before it is thrown on: with the time since when, so that it comes to an end.
      if (await this.#tell(environment, before, runs, troubleOf(error))) return {};
      if (isOfTester(error)) return nextLook(true);
      throw error;
    }
    return (await this.#tell(environment, before, runs)) ? {} : nextLook(false);
  }

  /** Gives whether all is over. */
  async #tell(
    environment: Environment,
    before: TestsStatus,
    runs: readonly TestRun[],
    trouble?: Trouble,
  ): Promise<boolean> {
    const now = this.#parts.now();
    const tests = {
      ...before,
      runs: runs.map((run) => (isOverdue(before, now) ? giveUp(run, overdueWords, now) : run)),
    };
    await this.#write(environment, tests, testedReport(tests, trouble));
    return isOver(tests);
  }

  /** Brings each of `runs` further, in its place; up to the first that fails. */
  async #stepAll(
    environment: Environment,
    tester: Tester,
    named: readonly EnvironmentTest[],
    round: Round,
    runs: TestRun[],
  ): Promise<void> {
    const { secrets } = this.#parts;
    const found = await secrets.read(environment);
    const kept: KeptRuns = found && isOfRound(found, round) ? found : keptOf(round);
    // Before the first run is started: one that could not be kept would be lost, and another started in its place.
    if (kept !== found) await secrets.write(environment, kept);
    for (const [index, run] of runs.entries()) {
      if (!isRunOver(run)) runs[index] = await this.#step(environment, tester, named, run, kept);
    }
  }

  /** Starts the run, or takes up one that was started, or looks how it goes. */
  async #step(
    environment: Environment,
    tester: Tester,
    named: readonly EnvironmentTest[],
    run: TestRun,
    kept: KeptRuns,
  ): Promise<TestRun> {
    const { secrets, now } = this.#parts;
    const address = Object.hasOwn(kept.runs, run.name) ? kept.runs[run.name] : undefined;
    // Also of one that an operator started and had no time to tell of.
    if (address) return followRun(tester, { ...run, outcome: 'running', id: address.ID }, address, now());
    const definition = named.find(({ name }) => name === run.name);
    if (!definition || run.outcome === 'running') {
      return ended(run, 'error', 'its run is not known any more: ask for the tests again', now());
    }
    const { webURL, aliases = {} } = environment.status ?? {};
    const url = webURL ?? Object.values(aliases)[0];
    if (url === undefined) {
      const words =
        'no service of the environment is public: publish a port of one in the service file, then build again';
      return ended(run, 'error', words, now());
    }
    const group = groupOfNamespace(environment.metadata.namespace ?? '') ?? '';
    const started = await startRun(tester, run, definition, url, group, now());
    if (!started.address) return started.run;
    kept.runs[run.name] = started.address;
    try {
      await secrets.write(environment, kept);
    } catch (error) {
      // What may pass is tried again, with another run; what is refused would be with each.
      if (!isForbidden(error) && !isInvalid(error)) throw error;
      return ended(run, 'error', `how its run is found cannot be kept: ${error.statusMessage}`, now());
    }
    return started.run;
  }

  /** With the contents, or in a build whose file names no tests, what is known of tests goes. */
  async #forget(environment: Environment): Promise<ReconcileResult> {
    if (!isAnythingTold(environment)) return {};
    await this.#parts.secrets.remove(environment);
    return this.#write(environment, undefined, undefined);
  }

  async #write(
    environment: Environment,
    tests: TestsStatus | undefined,
    report: ConditionReport | undefined,
  ): Promise<ReconcileResult> {
    const { statuses, now } = this.#parts;
    const { status, metadata } = environment;
    const before = findCondition(status?.conditions, TESTED);
    const conditions = report
      ? mergeConditions(before ? [before] : [], [report], metadata.generation ?? 0, now())
      : undefined;
    await statuses
      .write(environment, { ...(tests && { tests }), ...(conditions && { conditions }) })
      .catch((error: unknown) => {
        // It has gone in the meantime.
        if (!isNotFound(error)) throw error;
      });
    return {};
  }
}

function begin(round: Round, named: readonly EnvironmentTest[], now: Date): TestsStatus {
  const runs = named.map(({ name, type }): TestRun => ({ name, type, outcome: 'pending' }));
  return { ...round, since: now.toISOString(), runs };
}

function keptOf({ build, request }: Round): KeptRuns {
  return { build, ...(request !== undefined && { request }), runs: {} };
}

function giveUp(run: TestRun, why: string, now: Date): TestRun {
  return isRunOver(run) ? run : ended(run, 'error', why, now);
}
