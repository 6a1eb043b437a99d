import { GROUP_VERSION } from '../../../crds/api-group.ts';
import { ENVIRONMENT, type Environment } from '../../../crds/environment.ts';
import { FINALIZER, LABELS, MANAGED_BY } from '../../../crds/labels.ts';
import type { RuleEnvironment } from '../../../crds/sync-rules.ts';
import { nextRequestTime, requestAnnotation, requestValue, type RequestName } from '../../../crds/requests.ts';
import { isAlreadyExists, isConflict, isNotFound } from '../../../kubernetes/api-error.ts';
import type { ClusterClient } from '../../../kubernetes/client.ts';
import { deleteObject } from '../../../kubernetes/delete-object.ts';
import type { Informer } from '../../../kubernetes/informer.ts';
import { buildRequestId } from './sync-builds.ts';
import type { SyncPlan } from './sync-plan.ts';

export interface SyncActionsOptions {
  client: Pick<ClusterClient, 'create' | 'delete' | 'patch'>;
  environments: Pick<Informer<Environment>, 'observe'>;
  /** Called with each Environment that is deleted, or whose contents are. */
  onRemoved?: ((environment: Environment, what: 'object' | 'contents') => void) | undefined;
  now: () => Date;
}

/** The Repository that owns the Environments to create. */
interface RepositoryName {
  namespace: string;
  name: string;
}

/** Number of concurrent requests: about as fast as the Environments can be reconciled, without blocking other work. */
const atOnce = 4;

/**
 * Carries out at most `max` planned changes, those of contents first; the next plan finds the rest, and objects that
 * were created, deleted or replaced meanwhile. Returns how many are left.
 */
export async function carryOut(
  options: SyncActionsOptions,
  repository: RepositoryName,
  plan: Pick<SyncPlan, 'create' | 'build' | 'remove'>,
  { max, signal }: { max: number; signal: AbortSignal },
): Promise<number> {
  const actions = [
    ...plan.build.map(
      ({ environment, commit, request: what, requestId = buildRequestId(commit) }) =>
        () =>
          request(options, environment, what, requestId),
    ),
    ...plan.remove.map((removal) => () => remove(options, removal)),
    ...plan.create.map((creation) => () => create(options, repository, creation)),
  ];
  let done = 0;
  const queue = actions.slice(0, max).values();
  let failed = false;
  await Promise.all(
    Array.from({ length: atOnce }, async () => {
      for (const act of queue) {
        if (failed || signal.aborted) return;
        try {
          await act();
          done += 1;
        } catch (error) {
          failed = true;
          throw error;
        }
      }
    }),
  );
  return actions.length - done;
}

/**
 * The requests that a new environment comes with. Its spec requests no contents, as that of every environment that a
 * sync creates, so that it is deleted with its ref even before a commit was read.
 */
const requests: Readonly<Record<RuleEnvironment, readonly RequestName[]>> = {
  none: [],
  empty: [],
  created: ['create'],
  built: ['create', 'build'],
};

async function create(
  { client, environments, now }: SyncActionsOptions,
  { namespace, name: repository }: RepositoryName,
  { name, ref, decision: { environment: wanted, ttlSeconds, sleep } }: SyncPlan['create'][number],
): Promise<void> {
  const requested = requests[wanted].map((what) => [requestAnnotation(what), requestValue(now(), 'rule')]);
  const environment: Environment = {
    apiVersion: GROUP_VERSION,
    kind: ENVIRONMENT.kind,
    // Created with the finalizer, which saves one write for each.
    metadata: {
      namespace,
      name,
      labels: { [LABELS.managedBy]: MANAGED_BY },
      finalizers: [FINALIZER],
      ...(requested.length > 0 && { annotations: Object.fromEntries(requested) as Record<string, string> }),
    },
    spec: {
      repository,
      gitRef: ref,
      active: false,
      buildOnCreate: true,
      ...(ttlSeconds !== undefined && { ttlSeconds }),
      ...(sleep && { sleep }),
    },
  };
  try {
    environments.observe(await client.create<Environment>(ENVIRONMENT, environment));
  } catch (error) {
    if (!isAlreadyExists(error)) throw error;
  }
}

async function remove(options: SyncActionsOptions, { environment, what }: SyncPlan['remove'][number]): Promise<void> {
  if (what === 'contents') {
    await request(options, environment, 'delete', 'ref-gone');
    options.onRemoved?.(environment, what);
    return;
  }
  if (await deleteObject(options.client, ENVIRONMENT, environment)) options.onRemoved?.(environment, what);
}

async function request(
  { client, environments, now }: SyncActionsOptions,
  { metadata: { namespace, name, uid, annotations: before } }: Environment,
  what: RequestName,
  id: string,
): Promise<void> {
  const annotations = { [requestAnnotation(what)]: requestValue(nextRequestTime(now(), before), id) };
  // The UID makes the API server refuse the patch for another object of the same name.
  const patch = { metadata: { uid, annotations } };
  try {
    environments.observe(await client.patch<Environment>(ENVIRONMENT, { namespace, name }, patch));
  } catch (error) {
    if (!isNotFound(error) && !isConflict(error)) throw error;
  }
}
