import type { ClusterClient } from '../../kubernetes/client.ts';
import { Informer } from '../../kubernetes/informer.ts';
import { listWatch } from '../../kubernetes/list-watch.ts';
import { Deployment, keyOf, type KubernetesObject } from '../../kubernetes/resource-type.ts';
import { silentLogger } from '../../kubernetes/testing/silent-logger.ts';
import { withCleanUp } from '../cluster/clean-up.ts';

/** None that nobody disturbs takes longer. */
const timeoutMs = 300_000;

/** Follows all Deployments of the cluster by one watch. */
export class DeploymentWatch {
  readonly #informer: Informer<Deployment>;

  private constructor(client: ClusterClient) {
    const source = listWatch<Deployment>(client, Deployment);
    this.#informer = new Informer<Deployment>({ name: 'bench', source, logger: silentLogger });
  }

  /** Follows them while `work` is under way. */
  static during<T>(client: ClusterClient, work: (watch: DeploymentWatch) => Promise<T>): Promise<T> {
    const watch = new DeploymentWatch(client);
    const followed = async () => {
      watch.#informer.start();
      await watch.#informer.whenSynced();
      return work(watch);
    };
    return withCleanUp(followed, () => watch.#informer.stop());
  }

  /** Resolves once each of these Deployments has all of its replicas available. */
  async rolledOut(deployments: readonly KubernetesObject[]): Promise<void> {
    const is = (one: Deployment | undefined) => one !== undefined && isRolledOut(one);
    await Promise.all(deployments.map((one) => this.#informer.waitFor(keyOf(one), is, { timeoutMs })));
  }
}

export function isRolledOut({ metadata, spec, status }: Deployment): boolean {
  const replicas = spec?.replicas ?? 1;
  if (status?.observedGeneration !== metadata.generation) return false;
  return (status?.updatedReplicas ?? 0) >= replicas && (status?.availableReplicas ?? 0) >= replicas;
}
