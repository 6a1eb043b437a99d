import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { useEffect } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import { send } from '../../api/client.ts';
import { groupPath, registerPage } from '../../api/paths.ts';
import type { InvitedMemberView, MemberView } from '../../api/types.ts';
import { Confirm } from '../../components/confirm.tsx';
import { Copy } from '../../components/copy.tsx';
import { ErrorNote } from '../../components/error-note.tsx';
import { Form, SelectField, TextField } from '../../components/form.tsx';
import { Table } from '../../components/table.tsx';
import { Ago } from '../../components/times.tsx';
import { useAction } from '../../state/action.ts';
import { coarseNow } from '../../state/clock.ts';
import { notify } from '../../state/notices.ts';
import { useQuery } from '../../state/page.ts';
import { session } from '../../state/session.ts';
import { exactTime } from '../../view/time.ts';

const roles = [
  ['member', 'member'],
  ['owner', 'owner'],
] as const;

interface MembersProps {
  id: string;
  members: readonly MemberView[];
  onChange: () => void;
}

/** The people of a group. A new one gets an invitation, which is shown once. */
export function Members({ id, members, onChange }: MembersProps): JSX.Element {
  const { query, setQuery } = useQuery();
  const { route } = useLocation();
  const own = session.value.kind === 'signed-in' ? session.value.user.email : '';
  const close = () => setQuery({ dialog: undefined, name: undefined });
  const chosen = members.find(({ name }) => name === query['name']);
  return (
    <div class="stack">
      <Table columns={['Address', 'Role']} hasActions>
        {members
          .toSorted((one, other) => Number(isInvited(one)) - Number(isInvited(other)))
          .map((member) => (
            <MemberRow key={member.id} group={id} member={member} isOwn={member.name === own} onChange={onChange} />
          ))}
      </Table>
      <AddMember id={id} onChange={onChange} />
      {query['dialog'] === 'remove-member' && chosen && (
        <Confirm
          title={chosen.name === own ? 'Leave the group' : 'Remove the member'}
          verb={chosen.name === own ? 'Leave' : 'Remove'}
          act={async () => {
            if (chosen.name === own) {
              await send('POST', `${groupPath(id)}/leave`);
            } else {
              await send('DELETE', `${groupPath(id)}/members/${encodeURIComponent(chosen.name)}`);
              onChange();
            }
          }}
          onDone={chosen.name === own ? () => route('/') : close}
          onClose={close}
        >
          <p>
            <b>{chosen.name}</b> no longer sees the group, its repositories and environments.
          </p>
        </Confirm>
      )}
    </div>
  );
}

/**
 * Whether the member can accept an invitation now. Whoever has not accepted one that ended may see the group all the
 * same, with a verified address.
 */
function isInvited({ invitationExpiresAt }: MemberView): boolean {
  return invitationExpiresAt !== undefined && Date.parse(invitationExpiresAt) > coarseNow.value;
}

function InvitedBadge({ until = '' }: { until: string | undefined }): JSX.Element {
  return (
    <>
      <span
        class="badge state-created"
        title="Has not accepted the invitation. An account with a verified address sees the group without it."
      >
        invited
      </span>{' '}
      <span class="muted">
        the link ends <Ago at={Date.parse(until) / 1000} />
      </span>
    </>
  );
}

function MemberRow({
  group,
  member,
  isOwn,
  onChange,
}: {
  group: string;
  member: MemberView;
  isOwn: boolean;
  onChange: () => void;
}): JSX.Element {
  const { setQuery } = useQuery();
  const role = useSignal(member.role);
  useEffect(() => {
    role.value = member.role;
  }, [member.role]);
  const action = useAction(async () => {
    const wanted = role.value;
    try {
      await send('PATCH', `${groupPath(group)}/members/${encodeURIComponent(member.name)}`, { body: { role: wanted } });
    } catch (error) {
      role.value = member.role;
      throw error;
    }
    notify(`${member.name} is now ${wanted}.`);
    onChange();
  });
  return (
    <tr>
      <td>
        {member.name} {isOwn && <span class="muted">(you)</span>}
        {isInvited(member) && <InvitedBadge until={member.invitationExpiresAt} />}
        <ErrorNote error={action.error.value} />
      </td>
      <td>
        <select
          aria-label={`Role of ${member.name}`}
          onInput={(event) => {
            // One change at a time. Not disabled meanwhile, which would take the focus away.
            if (action.isPending.value) event.currentTarget.value = role.value;
            else {
              role.value = event.currentTarget.value === 'owner' ? 'owner' : 'member';
              action.run();
            }
          }}
        >
          {roles.map(([value, text]) => (
            <option key={value} value={value} selected={value === role.value}>
              {text}
            </option>
          ))}
        </select>
      </td>
      <td class="actions">
        <button
          type="button"
          class="ghost danger-text"
          aria-label={isOwn ? 'Leave the group' : `Remove ${member.name}`}
          onClick={() => setQuery({ dialog: 'remove-member', name: member.name })}
        >
          {isOwn ? 'Leave' : 'Remove'}
        </button>
      </td>
    </tr>
  );
}

function AddMember({ id, onChange }: Omit<MembersProps, 'members'>): JSX.Element {
  const email = useSignal('');
  const role = useSignal<MemberView['role']>('member');
  const invited = useSignal<InvitedMemberView | undefined>(undefined);
  const action = useAction(async () => {
    const name = email.value.trim().toLowerCase();
    const members = await send<InvitedMemberView[]>('POST', `${groupPath(id)}/members`, {
      body: { name, role: role.value },
    });
    invited.value = members.find((member) => member.name === name);
    email.value = '';
    onChange();
  });
  return (
    <section class="stack-small">
      <h2>Add a member</h2>
      <Form action={action} verb="Add" label="Add a member">
        <div class="form-row">
          <TextField
            label="E-mail address"
            name="name"
            type="email"
            value={email.value}
            onInput={(text) => (email.value = text)}
            isRequired
          />
          <SelectField
            label="Role"
            name="role"
            value={role.value}
            options={roles}
            onInput={(value) => (role.value = value)}
          />
        </div>
      </Form>
      {invited.value?.invitation !== undefined && <Invitation member={invited.value} />}
    </section>
  );
}

function Invitation({
  member: { name, invitation = '', invitationExpiresAt },
}: {
  member: InvitedMemberView;
}): JSX.Element {
  const link = `${location.origin}${registerPage(invitation)}`;
  return (
    <div class="note state-built" role="status">
      <div>
        <p>
          Send this link to <b>{name}</b>. It is shown once
          {invitationExpiresAt !== undefined && ` and valid until ${exactTime(Date.parse(invitationExpiresAt) / 1000)}`}
          . It shows the group to whoever has it, and asks to register or to sign in.
        </p>
        <p class="row">
          <code class="wrap-anywhere">{link}</code> <Copy text={link} label="Copy the link" />
        </p>
      </div>
    </div>
  );
}
