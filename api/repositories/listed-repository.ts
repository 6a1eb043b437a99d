import { z } from 'zod';
import { formatId, idOf } from '../../crds/ids.ts';
import type { Repository } from '../../crds/repository.ts';
import { REPOSITORY_TYPES } from '../../crds/repository-source.ts';
import { isBeingDeleted } from '../cluster/deletion.ts';
import { objectHealth } from '../http/object-health.ts';
import { healthSchema, problemSchema } from '../http/health-view.ts';

/** A repository in lists and in the change stream. */
export const listedRepositorySchema = z
  .object({
    id: z.string(),
    gid: z.string().meta({ description: 'The id of its group.' }),
    version: z.int().meta({ description: 'Grows with each change of the object.' }),
    name: z.string(),
    url: z.string().meta({ description: 'Web address of the repository at its host, without credentials.' }),
    type: z.enum(REPOSITORY_TYPES),
    health: healthSchema,
    problem: problemSchema.optional(),
    deleting: z.literal(true).optional(),
  })
  .meta({ id: 'ListedRepository' });
export type ListedRepository = z.infer<typeof listedRepositorySchema>;

/** Returns a repository as lists and the change stream show it. */
export function listedRepository(repository: Repository): ListedRepository {
  const { metadata, spec, status } = repository;
  const id = idOf(repository);
  return {
    id: formatId(id),
    gid: id.group,
    version: Number(metadata.resourceVersion ?? 0),
    name: spec.displayName ?? metadata.name,
    url: status?.url ?? spec.generic?.origin ?? '',
    type: spec.type,
    ...objectHealth(repository),
    ...(isBeingDeleted(repository) && { deleting: true as const }),
  };
}
