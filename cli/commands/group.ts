import type { GroupItem } from '../api/types.ts';
import { printItem, printList } from '../output/print.ts';
import { required } from '../paths.ts';
import type { Run } from '../session.ts';
import { SHOWN_GROUPS } from '../shown.ts';

export const list: Run = async ({ installation, io, format }) => {
  await printList(io, format, await installation.groups(), SHOWN_GROUPS);
};

export const create: Run = async ({ client, io, format }, [name]) => {
  const { id, name: shown } = await client.send<GroupItem>('POST', '/api/groups', {
    body: { name: required(name, 'NAME') },
  });
  await printItem(io, format, { id, name: shown }, SHOWN_GROUPS);
};
