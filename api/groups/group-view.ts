import type { Group } from '../../crds/group.ts';
import type { RepositoryView } from '../repositories/repository-view.ts';

/** Contract section 2, group: listing item. */
export interface GroupItem {
  id: string;
  name: string;
}

/** Contract section 2, group: detail, and the id. */
export interface GroupView extends GroupItem {
  repositories: RepositoryView[];
}

export function groupItem({ metadata, spec }: Group): GroupItem {
  return { id: metadata.name, name: spec.displayName ?? metadata.name };
}
