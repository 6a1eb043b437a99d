import { z } from 'zod';
import { ENVIRONMENT_STATES, type Environment } from '../../crds/environment.ts';
import type { Group } from '../../crds/group.ts';
import { formatId } from '../../crds/ids.ts';
import type { ReusableEnvironment } from '../../crds/reusable-environment.ts';
import type { Repository } from '../../crds/repository.ts';
import { REPOSITORY_TYPES } from '../../crds/repository-source.ts';
import { isBeingDeleted } from '../cluster/deletion.ts';
import { shownStatus } from '../environments/shown-status.ts';
import { environmentCommit, environmentDisplayName, environmentSize } from '../environments/environment-view.ts';
import { gitRefViewSchema } from '../environments/environment-view-schema.ts';
import { conditionViews, conditionViewSchema } from '../http/condition-view.ts';

/** An environment in a repository. */
const environmentSummarySchema = z
  .object({
    id: z.string(),
    name: z.string(),
    gitRef: gitRefViewSchema,
    status: z.enum(ENVIRONMENT_STATES).meta({ description: 'Extension: as in the environment itself.' }),
    weburl: z
      .string()
      .optional()
      .meta({ description: 'Extension: omitted if nothing is public, or until that is known.' }),
    commit: z.string().optional().meta({ description: 'Extension: as in the environment itself.' }),
  })
  .meta({ id: 'EnvironmentSummary' });

/** A reusable environment in a repository. */
const reusableEnvironmentSchema = z
  .object({
    label: z.string(),
    buildAt: z.iso.datetime().meta({ description: 'RFC 3339.' }),
    from: z.object({ name: z.string().meta({ description: 'The environment that it was published from.' }) }),
  })
  .meta({ id: 'ReusableEnvironment' });

const url = z.string().meta({ description: 'Web address of the repository at its host, without credentials.' });

/** A repository, as GET /api/repository/{id} returns it. */
export const repositoryViewSchema = z
  .object({
    id: z.string().meta({ description: 'The id of the repository: `acme.shop`.' }),
    gid: z.string().meta({ description: 'The id of its group.' }),
    name: z.string(),
    url,
    type: z.enum(REPOSITORY_TYPES),
    size: z.int().meta({ description: 'Sum of the sizes of its environments, in bytes.' }),
    details: z.object({ url }),
    environments: z.array(environmentSummarySchema),
    reusableEnvironments: z.array(reusableEnvironmentSchema),
    deleting: z
      .literal(true)
      .optional()
      .meta({ description: 'Extension: the repository is being deleted; otherwise absent.' }),
    conditions: z
      .array(conditionViewSchema)
      .meta({ description: 'Extension: whether the repository can be read, and if not, why.' }),
  })
  .meta({ id: 'Repository' });
export type RepositoryView = z.infer<typeof repositoryViewSchema>;

export function repositoryView(
  group: Group,
  repository: Repository,
  environments: readonly Environment[],
  reusables: readonly ReusableEnvironment[],
): RepositoryView {
  const { metadata, spec, status } = repository;
  const gid = group.metadata.name;
  // Used until the operator has reported a URL. The CRD refuses origins with credentials.
  const url = status?.url ?? spec.generic?.origin ?? '';
  return {
    id: formatId({ group: gid, name: metadata.name }),
    gid,
    name: spec.displayName ?? metadata.name,
    url,
    type: spec.type,
    size: environments.reduce((sum, environment) => sum + environmentSize(environment), 0),
    details: { url },
    environments: environments
      .map((environment) => environmentSummary(gid, environment))
      .sort((a, b) => (a.id < b.id ? -1 : 1)),
    reusableEnvironments: reusables.flatMap(({ spec: { label }, status }) => {
      if (status?.builtAt === undefined || !status.from) return [];
      const buildAt = new Date(status.builtAt).toISOString();
      return [{ label, buildAt, from: { name: status.from.environment } }];
    }),
    ...(isBeingDeleted(repository) && { deleting: true as const }),
    conditions: conditionViews(status?.conditions),
  };
}

function environmentSummary(group: string, environment: Environment): RepositoryView['environments'][number] {
  const weburl = environment.status?.webURL;
  const commit = environmentCommit(environment);
  return {
    id: formatId({ group, name: environment.metadata.name }),
    name: environmentDisplayName(environment),
    gitRef: environment.spec.gitRef,
    status: shownStatus(environment),
    ...(weburl !== undefined && { weburl }),
    ...(commit !== undefined && { commit }),
  };
}
