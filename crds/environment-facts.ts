import { environmentAliasHost, environmentAliasUrl, environmentHost, environmentUrl } from './environment-address.ts';
import type { GitRef } from './git-ref.ts';
import { formatId, type ResourceId } from './ids.ts';

export interface EnvironmentOfRef {
  id: ResourceId;
  /** Name of the Repository in the same group. */
  repository: string;
  ref: GitRef;
}

/** Returns what an environment's own variables are made of. `base`: URL below which environments are served. */
export function environmentFacts(base: URL, { id, repository, ref }: EnvironmentOfRef) {
  const { hostname: domain } = base;
  return {
    environment: formatId(id),
    group: id.group,
    repository: formatId({ group: id.group, name: repository }),
    ref,
    web: { url: withoutSlash(environmentUrl(base, id)), host: environmentHost(id, domain) },
    aliasWeb: (alias: string) => ({
      url: withoutSlash(environmentAliasUrl(base, id, alias)),
      host: environmentAliasHost(id, alias, domain),
    }),
  };
}

function withoutSlash(url: string): string {
  return url.replace(/\/$/, '');
}
