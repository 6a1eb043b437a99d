import type { GroupItem, GroupView, InvitedMemberView, MemberView } from '../api/types.ts';
import { requireConsent } from '../consent.ts';
import { note, write } from '../io.ts';
import { counted } from '../output/counted.ts';
import { printItem, printList, printValue } from '../output/print.ts';
import { visible } from '../output/safe-text.ts';
import { groupPath, required } from '../paths.ts';
import { suggesting, suggestingPart } from '../resolve.ts';
import type { Run, Session } from '../session.ts';
import { SHOWN_GROUPS, SHOWN_MEMBERS } from '../shown.ts';

export const list: Run = async ({ installation, io, format }) => {
  await printList(io, format, await installation.groups(), SHOWN_GROUPS);
};

export const create: Run = async ({ client, io, format }, [name]) => {
  const { id, name: shown } = await client.send<GroupItem>('POST', '/api/groups', {
    body: { name: required(name, 'NAME') },
  });
  await printItem(io, format, { id, name: shown }, SHOWN_GROUPS);
};

async function membersOf(session: Session, group: string): Promise<MemberView[]> {
  const read = () => session.client.get<{ members: MemberView[] }>(`${groupPath(group)}/settings`);
  return (await suggesting(session, 'group', group, read)).members;
}

export const members: Run = async (session, [group]) => {
  await printList(session.io, session.format, await membersOf(session, required(group, 'GROUP')), SHOWN_MEMBERS);
};

/** Adds a member. The link makes the account that opens it a member, whatever its address is. */
export const invite: Run = async (session, [group, email]) => {
  const { client, io, format, given } = session;
  const id = required(group, 'GROUP');
  const name = required(email, 'EMAIL');
  const role = given.text('role');
  const body = { name, ...(role !== undefined && { role }) };
  const send = () => client.send<InvitedMemberView[]>('POST', `${groupPath(id)}/members`, { body });
  const all = await suggesting(session, 'group', id, send);
  const added = all.find((one) => one.id === name.toLowerCase());
  if (format === 'json' || format === 'yaml') return printValue(io, format, added);
  note(io, `${name}: added to ${id}`);
  if (added?.invitation === undefined) return;
  await write(
    io.out,
    `${visible(`${client.url('/register').href}#invitation=${encodeURIComponent(added.invitation)}`)}\n`,
  );
  note(io, `pass on the link, which is shown once; it ends at ${added.invitationExpiresAt ?? 'an unknown time'}`);
};

export const removeMember: Run = async (session, [group, email]) => {
  const id = required(group, 'GROUP');
  const name = required(email, 'EMAIL');
  const read = async () => (await membersOf(session, id)).map((member) => member.id);
  await suggestingPart({ what: `${id} has no member`, name, read }, () =>
    session.client.send('DELETE', `${groupPath(id)}/members/${encodeURIComponent(name)}`),
  );
  note(session.io, `${name}: removed from ${id}`);
};

/** Deletes a group with everything in it. */
export const remove: Run = async (session, [group]) => {
  const { client, io } = session;
  const id = required(group, 'GROUP');
  const { repositories } = await suggesting(session, 'group', id, () => client.get<GroupView>(groupPath(id)));
  const environments = repositories.reduce((sum, repository) => sum + repository.environments.length, 0);
  const what = `${counted(repositories.length, 'repository', 'repositories')}, ${counted(environments, 'environment')}`;
  await requireConsent(session, `Delete ${id} with ${what} and all volumes?`);
  await client.send('DELETE', groupPath(id));
  note(io, `${id}: is being deleted`);
};
