import type { Environment } from '../../crds/environment.ts';
import type { GitRef } from '../../crds/git-ref.ts';
import type { Group } from '../../crds/group.ts';
import { formatId } from '../../crds/ids.ts';
import type { Repository } from '../../crds/repository.ts';
import { environmentDisplayName, environmentSize } from '../environments/environment-view.ts';
import { conditionViews, type ConditionView } from '../http/condition-view.ts';

/** Contract section 2, environment summary. */
interface EnvironmentSummary {
  id: string;
  name: string;
  gitRef: GitRef;
}

/** Contract section 2, repository; `conditions` is ours. */
export interface RepositoryView {
  id: string;
  gid: string;
  name: string;
  url: string;
  type: string;
  size: number;
  details: { url: string };
  environments: EnvironmentSummary[];
  reusableEnvironments: never[];
  /** Ours: whether the repository can be read, and what is in the way. */
  conditions: ConditionView[];
}

export function repositoryView(
  group: Group,
  { metadata, spec, status }: Repository,
  environments: readonly Environment[],
): RepositoryView {
  const gid = group.metadata.name;
  // The CRD lets no credentials into it.
  const url = spec.generic?.origin ?? '';
  return {
    id: formatId({ group: gid, name: metadata.name }),
    gid,
    name: spec.displayName ?? metadata.name,
    url,
    type: spec.type,
    size: environments.reduce((sum, environment) => sum + environmentSize(environment), 0),
    details: { url },
    environments: environments
      .map((environment) => ({
        id: formatId({ group: gid, name: environment.metadata.name }),
        name: environmentDisplayName(environment),
        gitRef: environment.spec.gitRef,
      }))
      .sort((a, b) => (a.id < b.id ? -1 : 1)),
    reusableEnvironments: [],
    conditions: conditionViews(status?.conditions),
  };
}
