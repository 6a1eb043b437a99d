import { ENVIRONMENT, type Environment } from '../../crds/environment.ts';
import type { ClusterClient } from '../../kubernetes/client.ts';
import { Informer } from '../../kubernetes/informer.ts';
import { listWatch } from '../../kubernetes/list-watch.ts';
import { objectKey } from '../../kubernetes/resource-type.ts';
import { silentLogger } from '../../kubernetes/testing/silent-logger.ts';
import { objectOf } from '../client/object-of.ts';
import { isSettledAs } from '../end-to-end/lifecycle-conditions.ts';
import { Problem } from '../support/problem.ts';
import { environmentAt, type Target } from './bench-groups.ts';

/** Watches all Environments of the cluster. */
export class EnvironmentWatch {
  readonly #informer: Informer<Environment>;

  constructor(client: ClusterClient) {
    const source = listWatch<Environment>(client, ENVIRONMENT);
    this.#informer = new Informer<Environment>({ name: 'bench', source, logger: silentLogger });
  }

  async start(): Promise<void> {
    this.#informer.start();
    await this.#informer.whenSynced();
  }

  stop(): Promise<void> {
    return this.#informer.stop();
  }

  /** Resolves when all of these have settled in the state. */
  async allAt(state: 'empty' | 'built', targets: readonly Target[], seconds: number): Promise<void> {
    const waits = targets.map((target) => this.until(target, (one) => isSettledAs(state, one), seconds));
    const missed = (await Promise.allSettled(waits)).filter(({ status }) => status === 'rejected').length;
    if (missed > 0) throw new Problem(`${missed} of ${targets.length} were not ${state} within ${seconds} s`);
  }

  /** Returns how many of these have settled in the state. */
  countAt(state: 'empty' | 'built', targets: readonly Target[]): number {
    return targets.filter((target) => isSettledAs(state, this.#informer.get(keyAt(target)))).length;
  }

  /** Resolves when an environment is in such a state. */
  async whenState(environmentId: string, is: (state: string | undefined) => boolean, seconds: number): Promise<void> {
    const { namespace, name } = objectOf(environmentId);
    const isReached = (environment: Environment | undefined) => is(environment?.status?.state);
    await this.#informer.waitFor(objectKey(namespace, name), isReached, { timeoutMs: seconds * 1000 });
  }

  /** Resolves when this build of an environment has succeeded. Throws a Problem if it failed. */
  async buildEnded(environmentId: string, number: number, seconds: number): Promise<void> {
    const { namespace, name } = objectOf(environmentId);
    const buildOf = (environment: Environment | undefined) => environment?.status?.build;
    const isOver = (environment: Environment | undefined) => {
      const { number: current = 0, result } = buildOf(environment) ?? {};
      return current > number || (current === number && result !== 'running');
    };
    const ended = await this.#informer.waitFor(objectKey(namespace, name), isOver, { timeoutMs: seconds * 1000 });
    const { number: current, result } = buildOf(ended) ?? {};
    if (current !== number || result !== 'succeeded')
      throw new Problem(`build ${current} of ${environmentId} ended: ${result}`);
  }

  async until(target: Target, is: (environment: Environment | undefined) => boolean, seconds: number): Promise<void> {
    await this.#informer.waitFor(keyAt(target), is, { timeoutMs: seconds * 1000 });
  }
}

function keyAt(target: Target): string {
  const { namespace, name } = environmentAt(target);
  return objectKey(namespace, name);
}
