import { z } from 'zod';
import { ENVIRONMENT_STATES, type Environment } from '../../crds/environment.ts';
import type { Group } from '../../crds/group.ts';
import { formatId } from '../../crds/ids.ts';
import type { ReusableEnvironment } from '../../crds/reusable-environment.ts';
import type { Repository } from '../../crds/repository.ts';
import { REPOSITORY_TYPES } from '../../crds/repository-source.ts';
import { shownStatus } from '../environments/shown-status.ts';
import {
  environmentCommit,
  environmentDisplayName,
  environmentSize,
  gitRefViewSchema,
} from '../environments/environment-view.ts';
import { conditionViews, conditionViewSchema } from '../http/condition-view.ts';

/** Contract section 2, environment summary. */
const environmentSummarySchema = z
  .object({
    id: z.string(),
    name: z.string(),
    gitRef: gitRefViewSchema,
    status: z.enum(ENVIRONMENT_STATES).meta({ description: 'Ours: as the environment itself shows it.' }),
    weburl: z
      .string()
      .optional()
      .meta({ description: 'Ours: omitted where nothing is public, or that is not known yet.' }),
    commit: z.string().optional().meta({ description: 'Ours: as the environment itself shows it.' }),
  })
  .meta({ id: 'EnvironmentSummary' });

/** Contract section 2, reusable environment. */
const reusableEnvironmentSchema = z
  .object({
    label: z.string(),
    buildAt: z.iso.datetime().meta({ description: 'RFC 3339.' }),
    from: z.object({ name: z.string().meta({ description: 'The environment that it was made of.' }) }),
  })
  .meta({ id: 'ReusableEnvironment' });

const url = z.string().meta({ description: 'Web address of the repository at its host, without credentials.' });

/** Contract section 2, repository. */
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
    conditions: z
      .array(conditionViewSchema)
      .meta({ description: 'Ours: whether the repository can be read, and what is in the way.' }),
  })
  .meta({ id: 'Repository' });
export type RepositoryView = z.infer<typeof repositoryViewSchema>;

export function repositoryView(
  group: Group,
  { metadata, spec, status }: Repository,
  environments: readonly Environment[],
  reusables: readonly ReusableEnvironment[],
): RepositoryView {
  const gid = group.metadata.name;
  // Until the operator has said it. The CRD lets no credentials into an origin.
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
