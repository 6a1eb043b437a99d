import { ENVIRONMENT, type Environment } from '../../crds/environment.ts';
import { groupNamespace } from '../../crds/ids.ts';
import { FIELD_MANAGERS } from '../../crds/labels.ts';
import type { ClusterClient } from '../../kubernetes/client.ts';
import { Informer } from '../../kubernetes/informer.ts';
import { listWatch } from '../../kubernetes/list-watch.ts';
import { ConfigMap, Namespace, objectKey } from '../../kubernetes/resource-type.ts';
import { silentLogger } from '../../kubernetes/testing/silent-logger.ts';
import { ownPart } from '../../operator/kinds/environment/status/status-parts.ts';
import { deleteIfThere } from '../../kubernetes/delete-if-present.ts';
import { objectOf } from '../client/object-of.ts';
import { namespaceOf } from './harness.ts';
import { conditionOf } from './lifecycle-conditions.ts';

/** A finalizer with which the test keeps a namespace. */
const holdAnnotation = 'coppice.test/hold';

/** Watches all Environments of some groups: waiting for hundreds needs no polling. */
export class LifecycleBoard {
  readonly client: ClusterClient;
  readonly #informers: Map<string, Informer<Environment>>;

  constructor(client: ClusterClient, groups: readonly string[]) {
    this.client = client;
    this.#informers = new Map(
      groups.map((group) => {
        const source = listWatch<Environment>(client, ENVIRONMENT, { namespace: groupNamespace(group) });
        return [group, new Informer<Environment>({ name: group, source, logger: silentLogger })];
      }),
    );
    for (const informer of this.#informers.values()) informer.start();
  }

  async stop(): Promise<void> {
    await Promise.all([...this.#informers.values()].map((informer) => informer.stop()));
    this.client.close();
  }

  read(id: string): Environment | undefined {
    return this.#of(id).informer.get(this.#of(id).key);
  }

  /** Waits until the predicate holds for the environment, or for its absence. */
  async until(
    id: string,
    what: string,
    is: (environment: Environment | undefined) => boolean,
    seconds = 150,
  ): Promise<Environment | undefined> {
    const { informer, key } = this.#of(id);
    try {
      return await informer.waitFor(key, is, { timeoutMs: seconds * 1000 });
    } catch (error) {
      const { metadata, status } = this.read(id) ?? {};
      const found = JSON.stringify({
        deleted: metadata?.deletionTimestamp,
        annotations: metadata?.annotations,
        status,
      });
      throw new Error(`${id} is not ${what}: ${found}`, { cause: error });
    }
  }

  /** Waits until the environment has settled in the state. */
  state(id: string, state: string): Promise<Environment | undefined> {
    return this.until(id, state, (one) => one?.status?.state === state && isAtRest(one));
  }

  async namespaceUid(id: string): Promise<string | undefined> {
    return (await this.client.find(Namespace, { name: namespaceOf(id) }))?.metadata.uid;
  }

  /** Annotates an Environment, or changes its spec, as kubectl does. */
  async patch(id: string, patch: object): Promise<void> {
    await this.client.patch(ENVIRONMENT, objectOf(id), patch);
  }

  /**
   * Makes the contents and the schedule look as if they existed since `since` (RFC 3339). Writes as the operator: a
   * field of another manager would remain when the operator removes it.
   */
  async backdate(id: string, since: string): Promise<void> {
    const { apiVersion, kind, metadata, status = {} } = await this.client.get<Environment>(ENVIRONMENT, objectOf(id));
    const { activation, schedule } = status;
    if (!activation || !schedule) throw new Error(`${id} has no contents, or no schedule`);
    const { name, namespace, uid } = metadata;
    const backdated = { ...status, activation: { ...activation, since }, schedule: { ...schedule, since } };
    const written = { apiVersion, kind, metadata: { name, namespace, uid }, status: ownPart.of(backdated) };
    await this.client.applyStatus(ENVIRONMENT, written, { fieldManager: FIELD_MANAGERS.operator, force: true });
  }

  delete(id: string): Promise<void> {
    return deleteIfThere(this.client, ENVIRONMENT, objectOf(id));
  }

  /** Delays the deletion of the contents until release(). */
  async hold(id: string): Promise<void> {
    const metadata = { name: 'hold', namespace: namespaceOf(id), finalizers: [holdAnnotation] };
    await this.client.create(ConfigMap, { apiVersion: 'v1', kind: 'ConfigMap', metadata });
  }

  async release(id: string): Promise<void> {
    await this.client.patch(ConfigMap, { name: 'hold', namespace: namespaceOf(id) }, { metadata: { finalizers: [] } });
  }

  #of(id: string) {
    const { namespace, name } = objectOf(id);
    const informer = this.#informers.get(id.split('.')[0] ?? '');
    if (!informer) throw new Error(`the group of ${id} is not followed`);
    return { informer, key: objectKey(namespace, name) };
  }
}

function isAtRest(environment: Environment): boolean {
  const { state, build } = environment.status ?? {};
  if (state === 'created') return conditionOf(environment, 'Created')?.status === 'True';
  if (state === 'building') return build?.revision !== undefined;
  return state !== 'built' || build?.result === 'succeeded';
}
