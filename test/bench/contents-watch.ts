import { LABELS } from '../../crds/labels.ts';
import { ClusterClient } from '../../kubernetes/client.ts';
import { Informer } from '../../kubernetes/informer.ts';
import { loadKubeConfig } from '../../kubernetes/kube-config.ts';
import { listWatch } from '../../kubernetes/list-watch.ts';
import {
  Deployment,
  Namespace,
  Service,
  type KubernetesObject,
  type ResourceType,
} from '../../kubernetes/resource-type.ts';
import { silentLogger } from '../../kubernetes/testing/silent-logger.ts';
import { isRolledOut } from './deployment-watch.ts';
import { withCleanUp } from '../cluster/clean-up.ts';
import { namespaceOf, type Harness } from '../end-to-end/harness.ts';

/** When the contents of an environment were first seen by a watch; in Unix milliseconds. */
export interface ContentsMoments {
  namespace: number;
  /** The first Service: by then the commit is known, and the service file read. */
  service: number;
  /** The last Deployment with all of its replicas available. */
  rolledOut: number;
}

/** Follows the contents of a group's environments, so that stages are told that no log speaks of. */
export class ContentsWatch {
  readonly #client: ClusterClient;
  readonly #informers: { stop(): Promise<void> }[] = [];
  readonly #moments = new Map<string, Partial<ContentsMoments>>();

  private constructor(kubeconfig: string) {
    process.env['KUBECONFIG'] = kubeconfig;
    this.#client = new ClusterClient(loadKubeConfig(), { userAgent: 'coppice-bench' });
  }

  /** Follows what comes while `work` is under way. */
  static async during<T>({ connection, group }: Harness, work: (contents: ContentsWatch) => Promise<T>): Promise<T> {
    const watch = new ContentsWatch(connection.kubeconfig);
    const followed = async () => {
      await Promise.all([
        watch.#follow(Namespace, group, ({ metadata }) => watch.#note(metadata.name, 'namespace', 'first')),
        watch.#follow(Service, group, ({ metadata }) => watch.#note(metadata.namespace, 'service', 'first')),
        watch.#follow(Deployment, group, (deployment, old) => {
          if (isRolledOut(deployment) && !(old && isRolledOut(old)))
            watch.#note(deployment.metadata.namespace, 'rolledOut', 'last');
        }),
      ]);
      return work(watch);
    };
    return withCleanUp(followed, () => watch.#stop());
  }

  async #stop(): Promise<void> {
    await Promise.all(this.#informers.map((informer) => informer.stop()));
    this.#client.close();
  }

  /** Throws where one of them was not seen. */
  momentsOf(environmentId: string): ContentsMoments {
    const { namespace, service, rolledOut } = this.#moments.get(namespaceOf(environmentId)) ?? {};
    if (namespace === undefined || service === undefined || rolledOut === undefined)
      throw new Error(`of ${environmentId} no namespace, Service or rollout was seen`);
    return { namespace, service, rolledOut };
  }

  async #follow<T extends KubernetesObject>(
    type: ResourceType<T>,
    group: string,
    onChange: (object: T, old: T | undefined) => void,
  ): Promise<void> {
    const labelSelector = `${LABELS.group}=${group},${LABELS.environment}`;
    const source = listWatch<T>(this.#client, type, { labelSelector });
    const informer = new Informer<T>({ name: 'bench', source, logger: silentLogger });
    this.#informers.push(informer);
    informer.addHandler((_, object, old) => onChange(object, old));
    informer.start();
    await informer.whenSynced();
  }

  #note(namespace = '', moment: keyof ContentsMoments, which: 'first' | 'last'): void {
    const moments = this.#moments.get(namespace) ?? {};
    this.#moments.set(namespace, moments);
    if (which === 'last') moments[moment] = Date.now();
    else moments[moment] ??= Date.now();
  }
}
