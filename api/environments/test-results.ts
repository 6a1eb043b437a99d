import type { Environment } from '../../crds/environment.ts';
import {
  keptRunsSchema,
  RUNS_KEY,
  testRunsSecretName,
  type RunAddress,
  type TestRun,
} from '../../crds/environment-tests.ts';
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

/** The test of this name, or all. */
export interface ResultsQuery {
  name: string | undefined;
}

/**
 * Reads the results of an Environment's tests from the tester, with the Secrets of their runs that the operator stores.
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
   * Returns results by test name, of tests that have any.
   * @throws Unavailable while another response is sent to this caller, or too many are sent
   */
  async read(environment: Environment, { name }: ResultsQuery, taker: Taker): Promise<Map<string, TestResults>> {
    const tester = this.#tester;
    const { runs = [] } = environment.status?.tests ?? {};
    const over = runs.filter(({ outcome }) => outcome === 'passed' || outcome === 'failed');
    const wanted = over.filter((run) => name === undefined || run.name === name);
    if (!tester || wanted.length === 0) return new Map();
    return this.#slots.hold(taker, () =>
      this.#readAll(tester, environment, wanted, name === undefined ? maxOfAll : maxPerOne),
    );
  }

  async #readAll(
    tester: ResultsTester,
    environment: Environment,
    wanted: readonly TestRun[],
    max: number,
  ): Promise<Map<string, TestResults>> {
    const addresses = await this.#addresses(environment);
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

  async #addresses(environment: Environment): Promise<Record<string, RunAddress | undefined>> {
    const { namespace, name } = environment.metadata;
    const secret = await this.#cluster.find(Secret, { namespace, name: testRunsSecretName(name) });
    const text = secret && isOwnedBy(secret, environment) ? secretText(secret, RUNS_KEY) : undefined;
    return keptSchema.safeParse(text).data?.runs ?? {};
  }
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
