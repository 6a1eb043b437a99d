import type { Environment } from '../../../crds/environment.ts';
import { creatorOf, type Group } from '../../../crds/group.ts';
import { groupOfNamespace } from '../../../crds/ids.ts';
import { LABELS } from '../../../crds/labels.ts';
import type { Repository } from '../../../crds/repository.ts';
import { repositoryServer } from '../../../crds/repository-server.ts';
import type { Flow, FlowOwner } from '../../../fair-queue/fair-queue.ts';
import type { Informer } from '../../../kubernetes/informer.ts';
import { objectKey, type KubernetesObject } from '../../../kubernetes/resource-type.ts';
import { parseSshOrigin } from '../network/ssh-origin.ts';

export interface FlowCaches {
  groups: Pick<Informer<Group>, 'get'>;
  environments: Pick<Informer<Environment>, 'get'>;
  repositories: Pick<Informer<Repository>, 'get'>;
}

/**
 * Assigns work to flows. The tenant is the account that created the group through the REST API, so that all groups of
 * one account share one tenant's slots. A group that was created otherwise, for example by GitOps, is its own tenant.
 * Work on a fork's pull request counts for the group that builds it.
 */
export class Flows {
  readonly #caches: FlowCaches;

  constructor(caches: FlowCaches) {
    this.#caches = caches;
  }

  ofGroup(group: string): FlowOwner {
    const creator = creatorOf(this.#caches.groups.get(group));
    return { tenant: creator === undefined ? `group ${group}` : `account ${creator}`, group };
  }

  ofNamespace(namespace = ''): FlowOwner {
    return this.ofGroup(groupOfNamespace(namespace) ?? namespace);
  }

  /** Returns the flow of writes of a Group, or of an object that is labeled with its group or in its namespace. */
  ofObject({ kind, metadata: { name, labels, namespace } }: Pick<KubernetesObject, 'kind' | 'metadata'>): Flow {
    const group = kind === 'Group' ? name : labels?.[LABELS.group];
    const owner = group === undefined ? this.ofNamespace(namespace) : this.ofGroup(group);
    return { ...owner, host: owner.group };
  }

  /** Returns the flow of requests to the Repository's Git host. */
  ofHost({ metadata, spec }: Repository): Flow {
    return { ...this.ofNamespace(metadata.namespace), host: hostOf(repositoryServer(spec)) };
  }

  /** Returns the flow of a Repository's reconciles. The limit of a host applies to each group separately. */
  ofRepository(key: string): Flow {
    return this.#ofReconcile(key, this.#caches.repositories.get(key));
  }

  /** Returns the flow of an Environment's reconciles. */
  ofEnvironment(key: string): Flow {
    const { metadata, spec } = this.#caches.environments.get(key) ?? {};
    return this.#ofReconcile(
      key,
      spec && this.#caches.repositories.get(objectKey(metadata?.namespace, spec.repository)),
    );
  }

  #ofReconcile(key: string, repository: Repository | undefined): Flow {
    const owner = this.ofNamespace(key.split('/')[0]);
    return { ...owner, host: `${owner.group} ${repository ? hostOf(repositoryServer(repository.spec)) : ''}` };
  }
}

/** Returns the host without scheme and port: a machine that does not respond affects all its ports. */
function hostOf(server: string): string {
  const ssh = parseSshOrigin(server);
  if (ssh) return ssh.host;
  return URL.canParse(server) ? new URL(server).hostname : server;
}
