import { z } from 'zod';
import type { Group } from '../../crds/group.ts';
import { repositoryViewSchema } from '../repositories/repository-view.ts';

const item = { id: z.string().meta({ description: 'The id of the group: `acme`.' }), name: z.string() };

/** Contract section 2, group: listing item. */
export const groupItemSchema = z.object(item).meta({ id: 'GroupItem' });
export type GroupItem = z.infer<typeof groupItemSchema>;

/** Contract section 2, group: detail, and the id. */
export const groupViewSchema = z.object({ ...item, repositories: z.array(repositoryViewSchema) }).meta({ id: 'Group' });
export type GroupView = z.infer<typeof groupViewSchema>;

export function groupItem({ metadata, spec }: Group): GroupItem {
  return { id: metadata.name, name: spec.displayName ?? metadata.name };
}
