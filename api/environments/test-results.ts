import { z } from 'zod';
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
import { ResultPlaces, type Taker } from './result-places.ts';

export type ResultsTester = Pick<TesterClient, 'results'>;

/** What a test has found, or why that cannot be shown now. */
export interface TestResults {
  result?: ResultItem[];
  message?: string;
}

/** Base64 characters of all results in one answer. */
const mostOfOne = 8 * 1024 * 1024;
const mostOfAll = 4 * 1024 * 1024;

/** What is asked for: the test of this name alone, or all. */
export interface ResultsQuery {
  name: string | undefined;
}

/** Reads the results of an Environment's tests from the tester, by the Secrets of their runs, which the operator keeps. */
export class TestResultsReader {
  readonly #cluster: Pick<ClusterWriter, 'find'>;
  /** Undefined: tests are off. */
  readonly #tester: ResultsTester | undefined;
  readonly #places = new ResultPlaces();

  constructor(cluster: Pick<ClusterWriter, 'find'>, tester: ResultsTester | undefined) {
    this.#cluster = cluster;
    this.#tester = tester;
  }

  get isOff(): boolean {
    return this.#tester === undefined;
  }

  /**
   * By the names of tests: of those that found something.
   * @throws Unavailable while others' are read for this taker, or many are.
   */
  async read(environment: Environment, { name }: ResultsQuery, taker: Taker): Promise<Map<string, TestResults>> {
    const tester = this.#tester;
    const { runs = [] } = environment.status?.tests ?? {};
    const over = runs.filter(({ outcome }) => outcome === 'passed' || outcome === 'failed');
    const wanted = over.filter((run) => name === undefined || run.name === name);
    if (!tester || wanted.length === 0) return new Map();
    return this.#places.hold(taker, () =>
      this.#readAll(tester, environment, wanted, name === undefined ? mostOfAll : mostOfOne),
    );
  }

  async #readAll(
    tester: ResultsTester,
    environment: Environment,
    wanted: readonly TestRun[],
    most: number,
  ): Promise<Map<string, TestResults>> {
    const addresses = await this.#addresses(environment);
    const found = new Map<string, TestResults>();
    let left = most;
    let isSilent = false;
    for (const { name, id } of wanted) {
      const address = addresses[name];
      // A run that was begun since has another ID than the one that is told of.
      const isKnown = address !== undefined && address.ID === id;
      // A tester that is silent is waited for once, not for each.
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

const keptSchema = z
  .string()
  .transform((text, context): unknown => {
    try {
      return JSON.parse(text);
    } catch {
      context.addIssue({ code: 'custom', message: 'is no JSON' });
      return z.NEVER;
    }
  })
  .pipe(keptRunsSchema);

const gone: TestResults = { message: 'the results are not kept any more: test again' };
const silent: TestResults = { message: 'the tester does not answer: try again later' };
const tooMuch: TestResults = {
  message: 'the results are too large for one answer: ask for this test alone with ?name=',
};

function sizeOf({ result = [] }: TestResults): number {
  return result.reduce((sum, { Content }) => sum + Content.length, 0);
}
