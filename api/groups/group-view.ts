import { z } from 'zod';
import type { Group } from '../../crds/group.ts';
import { isBeingDeleted } from '../cluster/deletion.ts';
import { repositoryViewSchema } from '../repositories/repository-view.ts';

const item = {
  id: z.string().meta({ description: 'The id of the group: `acme`.' }),
  name: z.string(),
  deleting: z
    .literal(true)
    .optional()
    .meta({ description: 'Extension: the group is being deleted; otherwise absent.' }),
};

/** A group in the list of groups. */
export const groupItemSchema = z.object(item).meta({ id: 'GroupItem' });
export type GroupItem = z.infer<typeof groupItemSchema>;

/** A group with its repositories. */
export const groupViewSchema = z.object({ ...item, repositories: z.array(repositoryViewSchema) }).meta({ id: 'Group' });
export type GroupView = z.infer<typeof groupViewSchema>;

export function groupItem(group: Group): GroupItem {
  const { metadata, spec } = group;
  return {
    id: metadata.name,
    name: spec.displayName ?? metadata.name,
    ...(isBeingDeleted(group) && { deleting: true as const }),
  };
}
