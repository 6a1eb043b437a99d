import { newestRequestId } from '../../crds/requests.ts';
import type { Flow } from '../../fair-queue/fair-queue.ts';
import { Controller, type ReconcileResult } from '../../kubernetes/controller.ts';
import type { OperatorContext } from './context.ts';

/** What is over by then, such as an outage of the API server, holds nothing up for longer. */
const maxBackoffMs = 60_000;

export interface ControllerOptions {
  /** In metrics and logs. */
  name: string;
  reconciler: { reconcile(key: string, signal: AbortSignal): Promise<ReconcileResult> };
  workers: number;
  /** For reconciles that can wait for a Git host, so that no tenant's keep another's waiting. */
  flowOf?: (key: string) => Flow;
}

/** Creates a controller that starts when all caches are synced. */
export function createController(
  { caches, logger, metrics }: Pick<OperatorContext, 'caches' | 'logger' | 'metrics'>,
  { name, reconciler, workers, flowOf }: ControllerOptions,
): Controller {
  return new Controller({
    name,
    reconcile: (key, signal) => reconciler.reconcile(key, signal),
    informers: Object.values(caches),
    workers,
    ...(flowOf && { flowOf }),
    maxDelayMs: maxBackoffMs,
    logger,
    logFields: (key) => requestFields(caches, name, key),
    metrics: metrics.forController(name),
  });
}

/** Which REST request was the last to ask for something of the object. */
function requestFields(
  { environments, repositories }: OperatorContext['caches'],
  controllerName: string,
  key: string,
): object {
  const cache = controllerName === 'repository' ? repositories : environments;
  const requestId = newestRequestId(cache.get(key)?.metadata.annotations);
  return requestId === undefined ? {} : { requestId };
}
