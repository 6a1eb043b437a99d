import { printList } from '../output/print.ts';
import type { Run } from '../session.ts';
import { SHOWN_GROUPS } from '../shown.ts';

export const list: Run = async ({ installation, io, format }) => {
  await printList(io, format, await installation.groups(), SHOWN_GROUPS);
};
