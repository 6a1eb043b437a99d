import type { Logger } from 'pino';
import { isConflict, isNotFound } from '../../../kubernetes/api-error.ts';
import type { ClusterClient } from '../../../kubernetes/client.ts';
import { Node, Pod } from '../../../kubernetes/resource-type.ts';

export interface LostPodsOptions {
  client: Pick<ClusterClient, 'delete' | 'find' | 'patchStatus'>;
  /** Returns all pods that Coppice created. */
  pods: () => readonly Pod[];
  now: () => Date;
  logger: Logger;
}

const intervalMs = 5000;
/** How long the kubelet may take after a pod's grace period, in milliseconds. */
const overdueMs = 15_000;

/**
 * Removes pods that are being deleted and whose node does not respond. Only the kubelet could complete their deletion,
 * and rollouts, Jobs and the deletion of namespaces wait for it. Containers on such a node may keep running until its
 * kubelet reconnects and stops them. Pods of other nodes are never removed.
 */
export class LostPods {
  readonly #options: LostPodsOptions;

  constructor(options: LostPodsOptions) {
    this.#options = options;
  }

  /** Reconciles the only key of this controller. */
  async reconcile(): Promise<{ requeueAfterMs: number }> {
    await this.sweep();
    return { requeueAfterMs: intervalMs };
  }

  /** Checks all pods once. Reads the node of an overdue pod, because nodes are not watched. */
  async sweep(): Promise<void> {
    const { client, pods, now } = this.#options;
    const time = now().getTime();
    const overdue = pods().filter(({ metadata }) => Date.parse(metadata.deletionTimestamp ?? '') + overdueMs < time);
    const names = new Set(overdue.flatMap(({ spec }) => spec?.nodeName ?? []));
    for (const name of names) {
      if (!isLost(await client.find(Node, { name }))) continue;
      for (const pod of overdue) if (pod.spec?.nodeName === name) await this.#remove(pod, name);
    }
  }

  async #remove({ metadata: { namespace, name, uid }, status }: Pod, node: string): Promise<void> {
    const { client, logger } = this.#options;
    try {
      if (status?.phase !== 'Failed' && status?.phase !== 'Succeeded') {
        // A Job with a pod failure policy replaces only failed pods.
        const message = `its node ${node} does not respond`;
        const patch = { metadata: { uid }, status: { phase: 'Failed', reason: 'NodeLost', message } };
        await client.patchStatus(Pod, { namespace, name }, patch);
      }
      await client.delete(Pod, { namespace, name }, { uid, gracePeriodSeconds: 0 });
      logger.warn({ namespace, name, node }, 'removed a pod whose node does not respond');
    } catch (error) {
      if (!isNotFound(error) && !isConflict(error)) throw error;
    }
  }
}

/** Returns whether the node is gone, or its kubelet no longer reports. Otherwise the kubelet may be stopping the pod. */
function isLost(node: Node | undefined): boolean {
  const ready = node?.status?.conditions?.find(({ type }) => type === 'Ready');
  return node === undefined || ready?.status === 'Unknown';
}
