import { z } from 'zod';
import type { Group } from '../../crds/group.ts';
import { isBeingDeleted } from '../cluster/deletion.ts';
import { healthSchema, problemSchema } from '../http/health-view.ts';
import { objectHealth } from '../http/object-health.ts';

/** A group in the overview and in the change stream. */
export const listedGroupSchema = z
  .object({
    id: z.string(),
    version: z.int().meta({ description: 'Grows with each change of the object.' }),
    name: z.string(),
    health: healthSchema,
    problem: problemSchema.optional(),
    deleting: z.literal(true).optional(),
  })
  .meta({ id: 'ListedGroup' });
export type ListedGroup = z.infer<typeof listedGroupSchema>;

/** Returns a group as the overview and the change stream show it. */
export function listedGroup(group: Group): ListedGroup {
  const { metadata, spec } = group;
  return {
    id: metadata.name,
    version: Number(metadata.resourceVersion ?? 0),
    name: spec.displayName ?? metadata.name,
    ...objectHealth(group),
    ...(isBeingDeleted(group) && { deleting: true as const }),
  };
}
