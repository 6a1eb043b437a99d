import { effectiveAccess, type AccessMode, type EffectiveAccess } from '../../crds/access.ts';
import type { Environment } from '../../crds/environment.ts';
import { environmentHost } from '../../crds/environment-address.ts';
import type { Group } from '../../crds/group.ts';
import { groupOfNamespace, idOf } from '../../crds/ids.ts';
import type { Repository } from '../../crds/repository.ts';
import { objectKey } from '../../kubernetes/resource-type.ts';
import type { Caches } from '../cluster/caches.ts';
import type { WebAddress } from '../environments/environment-view.ts';

/** An environment and what decides who can open it. */
export interface AccessTarget {
  environment: Environment;
  group: Group;
  repository: Repository | undefined;
  access: EffectiveAccess;
}

export interface EnvironmentHostsOptions {
  caches: Pick<Caches, 'groups' | 'repositories' | 'environments'>;
  webAddress: WebAddress;
  /** The chart's default. */
  defaultAccess: AccessMode;
}

/** Finds environments by the hosts of their web addresses. */
export class EnvironmentHosts {
  readonly #options: EnvironmentHostsOptions;

  constructor(options: EnvironmentHostsOptions) {
    this.#options = options;
  }

  /** Returns the environment of a host; undefined if there is none, or several claim it. */
  find(host: string): AccessTarget | undefined {
    const { caches, webAddress } = this.#options;
    const suffix = `.${webAddress.domain}`;
    if (!host.endsWith(suffix)) return undefined;
    const label = host.slice(0, -suffix.length);
    const [found, ...others] = caches.environments
      .byIndex('hostLabel', label)
      .filter((one) => one.metadata.deletionTimestamp === undefined && this.hostsOf(one).has(host));
    return found && others.length === 0 ? this.targetOf(found) : undefined;
  }

  /** Returns what decides who can open an environment; undefined if its group is gone. */
  targetOf(environment: Environment): AccessTarget | undefined {
    const { caches } = this.#options;
    const { namespace = '' } = environment.metadata;
    const group = caches.groups.get(groupOfNamespace(namespace) ?? '');
    if (!group || environment.metadata.uid === undefined) return undefined;
    const repository = caches.repositories.get(objectKey(namespace, environment.spec.repository));
    return { environment, group, repository, access: this.accessOf(environment, repository) };
  }

  accessOf(environment: Environment, repository: Repository | undefined): EffectiveAccess {
    return effectiveAccess(environment.spec, repository?.spec, this.#options.defaultAccess);
  }

  /** Returns the hosts of an environment: its own, and those of its aliases. */
  hostsOf(environment: Environment): Set<string> {
    const { domain } = this.#options.webAddress;
    const aliases = Object.values(environment.status?.aliases ?? {});
    return new Set([
      environmentHost(idOf(environment), domain),
      ...aliases.flatMap((url) => URL.parse(url)?.hostname ?? []),
    ]);
  }

  /** Returns a URL of a host. @param path with a leading slash */
  urlOf(host: string, path: string): string {
    const { scheme, port } = this.#options.webAddress;
    return `${scheme}://${host}${port === undefined ? '' : `:${port}`}${path}`;
  }
}
