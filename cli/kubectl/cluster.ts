import type { ClusterWriter } from '../../api/cluster/caches.ts';
import { isNotFound } from '../../kubernetes/api-error.ts';
import type { KubernetesObject, ObjectName, ResourceType } from '../../kubernetes/resource-type.ts';
import type { Kubectl } from './kubectl.ts';

/** A change that a watch reports; at its start, each existing object is reported as added. */
interface WatchEvent<T> {
  type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK' | 'ERROR';
  object: T;
}

const json = '--output=json';

/**
 * Reads and writes objects with kubectl. The API server has validated their shape by the CRDs, as for `kubernetes/`.
 * Values from users are parts of options, follow `--` or are in standard input, so none can be an option.
 */
export class KubectlCluster implements Pick<ClusterWriter, 'find' | 'create' | 'patch'> {
  readonly #kubectl: Kubectl;

  constructor(kubectl: Kubectl) {
    this.#kubectl = kubectl;
  }

  /** Returns the name by which the API server knows the user. */
  async userName(): Promise<string> {
    const text = await this.#kubectl.text(['auth', 'whoami', json]);
    return (JSON.parse(text) as { status: { userInfo: { username: string } } }).status.userInfo.username;
  }

  /** Lists the objects of a namespace, or of all. */
  async list<T extends KubernetesObject>(
    type: ResourceType<T>,
    namespace: string | undefined,
    signal?: AbortSignal,
  ): Promise<T[]> {
    const text = await this.#kubectl.text(['get', resource(type), inNamespace(namespace), json], { signal });
    return (JSON.parse(text) as { items: T[] }).items;
  }

  async find<T extends KubernetesObject>(type: ResourceType<T>, at: ObjectName): Promise<T | undefined> {
    try {
      return await this.#get(type, at);
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
  }

  async #get<T extends KubernetesObject>(type: ResourceType<T>, { namespace, name }: ObjectName): Promise<T> {
    const text = await this.#kubectl.text(['get', resource(type), ...ofNamespace(namespace), json, '--', name]);
    return JSON.parse(text) as T;
  }

  async create<T extends KubernetesObject>(_type: ResourceType<T>, object: T): Promise<T> {
    const args = ['create', ...ofNamespace(object.metadata.namespace), json, '--filename=-'];
    return JSON.parse(await this.#kubectl.text(args, { input: JSON.stringify(object) })) as T;
  }

  async patch<T extends KubernetesObject>(
    type: ResourceType<T>,
    { namespace, name }: ObjectName,
    patch: object,
  ): Promise<T> {
    const change = ['--type=merge', `--patch=${JSON.stringify(patch)}`];
    const args = ['patch', resource(type), ...ofNamespace(namespace), json, ...change, '--', name];
    return JSON.parse(await this.#kubectl.text(args)) as T;
  }

  /** Returns the objects that exist, then changes, until the API server ends the watch, after an hour at most. */
  async *watch<T extends KubernetesObject>(
    type: ResourceType<T>,
    { namespace, name }: { namespace?: string | undefined; name?: string | undefined },
    signal: AbortSignal,
  ): AsyncGenerator<WatchEvent<T>> {
    const which = name === undefined ? [inNamespace(namespace)] : ofNamespace(namespace);
    const args = ['get', resource(type), ...which, json, '--watch', '--output-watch-events'];
    const lines = this.#kubectl.lines(name === undefined ? args : [...args, '--', name], { signal });
    for await (const line of lines) yield JSON.parse(line) as WatchEvent<T>;
  }
}

function resource({ plural, group }: ResourceType): string {
  return group === '' ? plural : `${plural}.${group}`;
}

function inNamespace(namespace: string | undefined): string {
  return namespace === undefined ? '--all-namespaces' : `--namespace=${namespace}`;
}

function ofNamespace(namespace: string | undefined): string[] {
  return namespace === undefined ? [] : [`--namespace=${namespace}`];
}
