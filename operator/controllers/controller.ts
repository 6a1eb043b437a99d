import { newestRequestId } from '../../crds/requests.ts';
import type { Flow } from '../../fair-queue/fair-queue.ts';
import { Controller, type ReconcileResult } from '../../kubernetes/controller.ts';
import type { OperatorContext } from './context.ts';

/** Maximum backoff, so that objects recover soon after an outage, for example of the API server. */
const maxBackoffMs = 60_000;

export interface ControllerOptions {
  /** Name in metrics and logs. */
  name: string;
  reconciler: { reconcile(key: string, signal: AbortSignal): Promise<ReconcileResult> };
  workers: number;
  /** Returns the flow of a key, for reconciles that can wait for a Git host: no tenant must block others. */
  flowOf?: (key: string) => Flow;
  /** Returns whether a key waits for something when the operator starts; others are then reconciled later. Without it, keys keep their order. */
  isUrgent?: (key: string) => boolean;
}

/** Creates a controller that starts when all caches are synced. */
export function createController(
  { caches, logger, metrics }: Pick<OperatorContext, 'caches' | 'logger' | 'metrics'>,
  { name, reconciler, workers, flowOf, isUrgent }: ControllerOptions,
): Controller {
  return new Controller({
    name,
    reconcile: (key, signal) => reconciler.reconcile(key, signal),
    informers: Object.values(caches),
    workers,
    ...(flowOf && { flowOf }),
    isUrgent,
    maxDelayMs: maxBackoffMs,
    logger,
    logFields: (key) => requestFields(caches, name, key),
    metrics: metrics.forController(name),
  });
}

/** Returns the ID of the last REST request for the object, as a field of log lines. */
function requestFields(
  { environments, repositories }: OperatorContext['caches'],
  controllerName: string,
  key: string,
): object {
  const cache = ['repository', 'approvals'].includes(controllerName) ? repositories : environments;
  const requestId = newestRequestId(cache.get(key)?.metadata.annotations);
  return requestId === undefined ? {} : { requestId };
}
