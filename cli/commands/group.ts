import type { GroupItem } from '../api/types.ts';
import { printList } from '../output/print.ts';
import type { Run } from '../session.ts';
import { SHOWN_GROUPS } from '../shown.ts';

export const list: Run = async ({ client, io, format }) => {
  await printList(io, format, await client.get<GroupItem[]>('/api/groups'), SHOWN_GROUPS);
};
