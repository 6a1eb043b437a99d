import { LABELS } from '../../crds/labels.ts';
import { ClusterClient } from '../../kubernetes/client.ts';
import type { InformerHandler } from '../../kubernetes/informer.ts';
import { loadKubeConfig } from '../../kubernetes/kube-config.ts';
import { Deployment, Namespace, Service } from '../../kubernetes/resource-type.ts';
import { ISOLATION_ANNOTATION } from '../../operator/kinds/environment/namespace/environment-namespace.ts';
import { isRolledOut } from '../../operator/services/rollout/rollout.ts';
import { withCleanUp } from '../support/clean-up.ts';
import { namespaceOf, type Harness } from '../end-to-end/harness.ts';
import { following } from './following.ts';

/** When a watch reported objects of an environment's contents, in Unix milliseconds. */
export interface ContentsMoments {
  namespace: number;
  /** When the namespace recorded that its isolation policies are applied. */
  isolated: number;
  /** When the first Service appeared: the commit is known, and the service file was read. */
  service: number;
  /** When all replicas of the last Deployment became available. */
  rolledOut: number;
}

/** Records the moments at which a watch reports the objects. */
export class MomentNotes {
  readonly #now: () => number;
  readonly #moments = new Map<string, Partial<ContentsMoments>>();

  constructor(now: () => number) {
    this.#now = now;
  }

  readonly onNamespace: InformerHandler<Namespace> = (change, { metadata: { name, annotations } }) => {
    if (change === 'deleted') return;
    const moments = this.#momentsIn(name);
    moments.namespace ??= this.#now();
    if (annotations?.[ISOLATION_ANNOTATION] !== undefined) moments.isolated ??= this.#now();
  };

  readonly onService: InformerHandler<Service> = (change, { metadata: { namespace = '' } }) => {
    if (change !== 'deleted') this.#momentsIn(namespace).service ??= this.#now();
  };

  readonly onDeployment: InformerHandler<Deployment> = (change, deployment, old) => {
    const runs = (one: Deployment) => (one.spec?.replicas ?? 1) > 0 && isRolledOut(one);
    if (change === 'deleted' || !runs(deployment) || (old && runs(old))) return;
    this.#momentsIn(deployment.metadata.namespace ?? '').rolledOut = this.#now();
  };

  /** Returns the moments of an environment. Throws if one was not observed. */
  of(environmentId: string): ContentsMoments {
    const { namespace, isolated, service, rolledOut } = this.#momentsIn(namespaceOf(environmentId));
    if (namespace === undefined || isolated === undefined || service === undefined || rolledOut === undefined)
      throw new Error(`of ${environmentId} no namespace, isolation, Service or rollout was seen`);
    return { namespace, isolated, service, rolledOut };
  }

  #momentsIn(namespace: string): Partial<ContentsMoments> {
    const moments = this.#moments.get(namespace) ?? {};
    this.#moments.set(namespace, moments);
    return moments;
  }
}

/** Watches the contents of a group's environments during `work`, to measure stages that no log contains. */
export function watchingContents<T>(
  { connection, group }: Harness,
  work: (moments: MomentNotes) => Promise<T>,
): Promise<T> {
  process.env['KUBECONFIG'] = connection.kubeconfig;
  const client = new ClusterClient(loadKubeConfig(), { userAgent: 'coppice-bench' });
  const moments = new MomentNotes(Date.now);
  const ofGroup = { labelSelector: `${LABELS.group}=${group},${LABELS.environment}` };
  const deployments = () => following(client, Deployment, ofGroup, () => work(moments), moments.onDeployment);
  const services = () => following(client, Service, ofGroup, deployments, moments.onService);
  const all = () => following(client, Namespace, ofGroup, services, moments.onNamespace);
  return withCleanUp(all, async () => client.close());
}
