import { ENVIRONMENT, type Environment } from '../../crds/environment.ts';
import { formatId, groupNamespace, groupOfNamespace, idOf, parseId } from '../../crds/ids.ts';
import { REPOSITORY, type Repository } from '../../crds/repository.ts';
import type { KubernetesObject, ResourceType } from '../../kubernetes/resource-type.ts';
import { RequestError } from '../api/client.ts';
import type { KubectlCluster } from './cluster.ts';
import type { Kubectl } from './kubectl.ts';
import { givenNamespace, visibleNamespace } from './scope.ts';

/** Finds Repositories and Environments by their ids, and lists those that the user can see. */
export class Objects {
  readonly #kubectl: Kubectl;
  readonly #cluster: KubectlCluster;
  readonly #given: string | undefined;
  /** Cached lists, so that a command shows one state and lists nothing twice. */
  readonly #lists = new Map<string, Promise<KubernetesObject[]>>();

  /** @param namespace as --namespace names it @throws CliError */
  constructor(kubectl: Kubectl, cluster: KubectlCluster, namespace: string | undefined) {
    this.#kubectl = kubectl;
    this.#cluster = cluster;
    this.#given = givenNamespace(namespace);
  }

  /** The group whose namespace the options name. */
  get givenGroup(): string | undefined {
    return this.#given === undefined ? undefined : groupOfNamespace(this.#given);
  }

  environment(id: string): Promise<Environment> {
    return this.#find<Environment>(ENVIRONMENT, id);
  }

  repository(id: string): Promise<Repository> {
    return this.#find<Repository>(REPOSITORY, id);
  }

  /** Returns the namespace of lists; undefined for all. @throws ApiError or CliError */
  async namespace(signal?: AbortSignal): Promise<string | undefined> {
    return this.#given ?? visibleNamespace(this.#kubectl, () => this.environments(undefined, signal));
  }

  environments(namespace: string | undefined, signal?: AbortSignal): Promise<Environment[]> {
    return this.#list<Environment>(ENVIRONMENT, namespace, signal);
  }

  async repositories(namespace: string | undefined, signal?: AbortSignal): Promise<Repository[]> {
    return (await this.#list<Repository>(REPOSITORY, namespace, signal)).sort((a, b) =>
      nameOf(a) < nameOf(b) ? -1 : 1,
    );
  }

  /** Returns the ids that the user can see, or those in the group of the name if the user cannot list all. */
  async ids(kind: 'repository' | 'environment', name: string, signal?: AbortSignal): Promise<string[]> {
    const list = (namespace: string | undefined) =>
      kind === 'repository' ? this.repositories(namespace, signal) : this.environments(namespace, signal);
    const group = parseId(name)?.group;
    try {
      return (await list(await this.namespace(signal))).map(nameOf);
    } catch (error) {
      if (group === undefined) throw error;
      return (await list(groupNamespace(group))).map(nameOf);
    }
  }

  async #find<T extends KubernetesObject>(type: ResourceType<T>, id: string): Promise<T> {
    const parsed = parseId(id);
    const found =
      parsed && (await this.#cluster.find(type, { namespace: groupNamespace(parsed.group), name: parsed.name }));
    if (!found) throw new RequestError(404, `there is no ${type.kind} ${id}`);
    return found;
  }

  async #list<T extends KubernetesObject>(
    type: ResourceType<T>,
    namespace: string | undefined,
    signal?: AbortSignal,
  ): Promise<T[]> {
    const all = await this.#listOnce(type, namespace, signal);
    // Objects outside of groups' namespaces are not part of Coppice.
    return all.filter(({ metadata }) => groupOfNamespace(metadata.namespace ?? '') !== undefined);
  }

  #listOnce<T extends KubernetesObject>(
    type: ResourceType<T>,
    namespace: string | undefined,
    signal: AbortSignal | undefined,
  ): Promise<T[]> {
    const key = (of: string | undefined) => `${type.plural} ${of ?? ''}`;
    // The keys contain the type.
    const known = this.#lists.get(key(namespace)) as Promise<T[]> | undefined;
    if (known) return known;
    const all = this.#lists.get(key(undefined)) as Promise<T[]> | undefined;
    const list = () => this.#cluster.list(type, namespace, signal);
    const inNamespace = (objects: T[]) => objects.filter(({ metadata }) => metadata.namespace === namespace);
    // Not every user can list all namespaces.
    const listed = all ? all.then(inNamespace, list) : list();
    this.#lists.set(key(namespace), listed);
    return listed;
  }
}

function nameOf(object: KubernetesObject): string {
  return formatId(idOf(object));
}
