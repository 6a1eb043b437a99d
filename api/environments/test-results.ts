import type { Environment } from '../../crds/environment.ts';
import {
  keptRunsSchema,
  RUNS_KEY,
  testRunsSecretName,
  type RunAddress,
  type TestRun,
} from '../../crds/environment-tests.ts';
import { HISTORY_KEY, testHistoryIn, type TestHistory } from '../../crds/test-history.ts';
import { isOwnedBy } from '../../kubernetes/owner.ts';
import { Secret } from '../../kubernetes/resource-type.ts';
import { secretText } from '../../kubernetes/secret-texts.ts';
import type { TesterClient } from '../../tester-client/client.ts';
import { TesterUnreachableError, UnknownRunError } from '../../tester-client/errors.ts';
import type { ResultItem } from '../../tester-client/interface.ts';
import type { ClusterWriter } from '../cluster/caches.ts';
import { jsonText } from '../shared/json-text.ts';
import { ResultSlots, type Taker } from './result-slots.ts';

export type ResultsTester = Pick<TesterClient, 'results'>;

/** The results of a test, or why they cannot be shown. */
export interface TestResults {
  result?: ResultItem[];
  message?: string;
}

/** Maximum number of base64 characters of all results in one response. */
const maxPerOne = 8 * 1024 * 1024;
const maxOfAll = 4 * 1024 * 1024;

/** What is stored about an environment's tests, apart from their outcomes. */
export interface StoredTests {
  /** By test name, of tests that have any. */
  results: ReadonlyMap<string, TestResults>;
  history: TestHistory;
}

/** The test of this name, or all. */
export interface ResultsQuery {
  name: string | undefined;
}

/**
 * Reads the results of an Environment's tests from the tester, with the Secrets of their runs that the operator stores,
 * and the history beside them.
 */
export class TestResultsReader {
  readonly #cluster: Pick<ClusterWriter, 'find'>;
  /** Undefined if tests are disabled. */
  readonly #tester: ResultsTester | undefined;
  readonly #slots = new ResultSlots();

  constructor(cluster: Pick<ClusterWriter, 'find'>, tester: ResultsTester | undefined) {
    this.#cluster = cluster;
    this.#tester = tester;
  }

  get isOff(): boolean {
    return this.#tester === undefined;
  }

  /**
   * Returns results and history of an environment with tests.
   * @throws Unavailable while another response is sent to this caller, or too many are sent
   */
  async read(environment: Environment, { name }: ResultsQuery, taker: Taker): Promise<StoredTests> {
    const tester = this.#tester;
    const { tests } = environment.status ?? {};
    if (!tests) return { results: new Map(), history: [] };
    const over = tests.runs.filter(({ outcome }) => outcome === 'passed' || outcome === 'failed');
    const wanted = over.filter((run) => name === undefined || run.name === name);
    if (!tester || wanted.length === 0) {
      return { results: new Map(), history: historyIn(await this.#secret(environment)) };
    }
    return this.#slots.hold(taker, async () => {
      const secret = await this.#secret(environment);
      const results = await this.#readAll(
        tester,
        addressesIn(secret),
        wanted,
        name === undefined ? maxOfAll : maxPerOne,
      );
      return { results, history: historyIn(secret) };
    });
  }

  async #readAll(
    tester: ResultsTester,
    addresses: Record<string, RunAddress | undefined>,
    wanted: readonly TestRun[],
    max: number,
  ): Promise<Map<string, TestResults>> {
    const found = new Map<string, TestResults>();
    let left = max;
    let isSilent = false;
    for (const { name, id } of wanted) {
      const address = addresses[name];
      // A run started since then has another ID than the one reported.
      const isKnown = address !== undefined && address.ID === id;
      // Waits once for a silent tester, not once per test.
      const results: TestResults = !isKnown ? gone : isSilent ? silent : await this.#ask(tester, address);
      isSilent ||= results === silent;
      const size = sizeOf(results);
      found.set(name, size <= left ? results : tooMuch);
      if (size <= left) left -= size;
    }
    return found;
  }

  async #ask(tester: ResultsTester, address: RunAddress): Promise<TestResults> {
    try {
      return { result: await tester.results(address) };
    } catch (error) {
      if (error instanceof UnknownRunError) return gone;
      if (error instanceof TesterUnreachableError) return silent;
      throw error;
    }
  }

  /** Returns the Secret of the runs, if it is the environment's own. */
  async #secret(environment: Environment): Promise<Secret | undefined> {
    const { namespace, name } = environment.metadata;
    const secret = await this.#cluster.find(Secret, { namespace, name: testRunsSecretName(name) });
    return secret && isOwnedBy(secret, environment) ? secret : undefined;
  }
}

function historyIn(secret: Secret | undefined): TestHistory {
  return testHistoryIn(secretText(secret, HISTORY_KEY));
}

function addressesIn(secret: Secret | undefined): Record<string, RunAddress | undefined> {
  return keptSchema.safeParse(secretText(secret, RUNS_KEY)).data?.runs ?? {};
}

const keptSchema = jsonText(keptRunsSchema);

const gone: TestResults = { message: 'the results are no longer kept. Run the tests again' };
const silent: TestResults = { message: 'the tester does not respond. Try again later' };
const tooMuch: TestResults = {
  message: 'the results are too large for one response. Request this test with ?name=',
};

function sizeOf({ result = [] }: TestResults): number {
  return result.reduce((sum, { Content }) => sum + Content.length, 0);
}
