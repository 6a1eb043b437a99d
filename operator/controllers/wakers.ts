import { readFileSync } from 'node:fs';
import { ENVIRONMENT, type Environment } from '../../crds/environment.ts';
import { idOf } from '../../crds/ids.ts';
import { nextRequestTime, pendingRequests, requestAnnotation, requestValue } from '../../crds/requests.ts';
import { VISIT_REQUEST_ID } from '../../crds/sleep.ts';
import { keyOf } from '../../kubernetes/resource-type.ts';
import { environmentKeyOf } from '../shared/environment-keys.ts';
import { WakerLinks } from '../services/front/waker-links.ts';
import type { OperatorContext } from './context.ts';

/** Creates the connections to the wakers; undefined where there are none. */
export function createWakerLinks(context: OperatorContext, enqueue: (key: string) => void): WakerLinks | undefined {
  const { caches, config, secrets, board, logger } = context;
  if (!config.waker) return undefined;
  const { environments, endpointSlices, wakerPods } = caches;
  const visited = visitHandler(context, enqueue);
  return new WakerLinks({
    pods: wakerPods,
    board,
    key: readFileSync(secrets.WAKER_KEY_FILE, 'utf8').trim(),
    onVisit: (key) => {
      visited(key).catch((error: unknown) => logger.warn({ err: error, key }, 'a visit could not be recorded'));
    },
    isComplete: () => {
      if (environments.list().some((one) => sleeps(one) && !board.has(keyOf(one)))) return false;
      // The requests of those that an earlier operator was waking reach the wakers too.
      return endpointSlices.list().every((slice) => {
        const key = environmentKeyOf(slice);
        return key === undefined || board.has(key) || environments.get(key) === undefined;
      });
    },
    logger,
  });
}

/** Whether the environment sleeps, and has a namespace to sleep in. */
function sleeps({ status }: Environment): boolean {
  return status?.sleep?.asleep === true && status.state !== 'empty';
}

/**
 * Returns what a visit does: a sleeping environment gets a request to wake, which survives a restart of the operator; of
 * an awake one whose visitors are watched for, the visit is recorded.
 */
function visitHandler(
  { client, caches, configurations, visits, now }: OperatorContext,
  enqueue: (key: string) => void,
): (key: string) => Promise<void> {
  const { environments } = caches;
  const requested = new Set<string>();
  return async (key) => {
    const environment = environments.get(key);
    const { sleep, handledRequests } = environment?.status ?? {};
    if (!environment || !sleep || requested.has(key)) return;
    if (!sleep.asleep) {
      if (sleep.watchedSince === undefined) return;
      visits.note(key, now());
      enqueue(key);
      return;
    }
    const { namespace, name, uid, annotations } = environment.metadata;
    const repository = { group: idOf(environment).group, name: environment.spec.repository };
    const settings = { ...configurations.sleepSettings(repository), ...environment.spec.sleep };
    if ((settings.wakeOn ?? 'visit') !== 'visit') return;
    const pending = pendingRequests(annotations, handledRequests);
    if (pending.findLast((request) => request.name === 'sleep' || request.name === 'wake')?.name === 'wake') return;
    requested.add(key);
    try {
      const value = requestValue(nextRequestTime(now(), annotations), VISIT_REQUEST_ID);
      const patch = { metadata: { uid, annotations: { [requestAnnotation('wake')]: value } } };
      environments.observe(await client.patch(ENVIRONMENT, { namespace, name }, patch));
    } finally {
      requested.delete(key);
    }
  };
}
