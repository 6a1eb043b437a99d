import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { send } from '../api/client.ts';
import { registerPage } from '../api/paths.ts';
import type { Account } from '../api/types.ts';
import { Confirm } from '../components/confirm.tsx';
import { Copy } from '../components/copy.tsx';
import { LoadError, Skeleton } from '../components/error-note.tsx';
import { Form, TextField } from '../components/form.tsx';
import { Table } from '../components/table.tsx';
import { useAction } from '../state/action.ts';
import { useBreadcrumbs } from '../state/breadcrumbs.ts';
import { notify } from '../state/notices.ts';
import { useQuery, useTitle } from '../state/page.ts';
import { useResource } from '../state/resource.ts';
import { exactTime } from '../view/time.ts';

const maxShown = 500;

/** The users of the installation, for administrators. */
export default function AdministrationPage(): JSX.Element {
  useTitle('Administration');
  useBreadcrumbs([{ text: 'Administration', href: '/administration' }]);
  const { query, setQuery } = useQuery();
  const resource = useResource<Account[]>('/api/users');
  const accounts = resource.data.value;
  const error = resource.error.value;
  if (!accounts) {
    if (error) return <LoadError error={error} retry={() => void resource.reload()} what="page" />;
    return <Skeleton what="users" />;
  }
  const text = (query['text'] ?? '').toLowerCase();
  const found = accounts.filter(({ email }) => email.includes(text));
  const chosen = accounts.find(({ email }) => email === query['name']);
  return (
    <div class="stack">
      <h1>Administration</h1>
      <Invite onChange={() => resource.invalidate()} />
      <section class="stack-small">
        <div class="spread">
          <h2>
            Users <span class="count figures">{accounts.length}</span>
          </h2>
          <input
            class="short-input"
            type="search"
            aria-label="Find a user"
            placeholder="Find a user"
            value={query['text'] ?? ''}
            onInput={(event) => setQuery({ text: event.currentTarget.value })}
          />
        </div>
        <Table columns={['Address', 'State']} hasActions>
          {found.slice(0, maxShown).map((account) => (
            <tr key={account.email}>
              <td>{account.email}</td>
              <td class="muted">{stateOf(account)}</td>
              <td class="actions">
                <button
                  type="button"
                  class="ghost danger-text"
                  aria-label={`Remove ${account.email}`}
                  onClick={() => setQuery({ dialog: 'remove-user', name: account.email })}
                >
                  Remove
                </button>
              </td>
            </tr>
          ))}
        </Table>
        {found.length === 0 && <p class="muted">No user's address contains this text.</p>}
        {found.length > maxShown && <p class="muted">{found.length - maxShown} more match. Search for an address.</p>}
      </section>
      {query['dialog'] === 'remove-user' && chosen && (
        <Confirm
          title="Remove the user"
          verb="Remove"
          act={async () => {
            await send('DELETE', `/api/users/${encodeURIComponent(chosen.email)}`);
            resource.invalidate();
            notify(`Removed ${chosen.email}.`);
          }}
          onClose={() => setQuery({ dialog: undefined, name: undefined })}
        >
          <p>
            Removes <b>{chosen.email}</b> with their logins, API tokens and memberships. Groups and environments stay.
          </p>
        </Confirm>
      )}
    </div>
  );
}

function stateOf({ verified, invited, administrator }: Account): string {
  const words = [
    administrator && 'administrator',
    invited && 'invited',
    verified && !invited && 'registered',
    !verified && !invited && 'address not verified',
  ];
  return words.filter((word) => word !== false).join(', ');
}

function Invite({ onChange }: { onChange: () => void }): JSX.Element {
  const email = useSignal('');
  const invited = useSignal<{ email: string; invitation: string; expiresAt: string } | undefined>(undefined);
  const action = useAction(async () => {
    invited.value = await send('POST', '/api/users', { body: { email: email.value } });
    email.value = '';
    onChange();
  });
  const link = invited.value && `${location.origin}${registerPage(invited.value.invitation)}`;
  return (
    <section class="stack-small">
      <h2>Invite a user</h2>
      <Form action={action} verb="Invite" label="Invite a user">
        <TextField
          label="E-mail address"
          name="email"
          type="email"
          value={email.value}
          onInput={(text) => (email.value = text)}
          isRequired
        />
      </Form>
      {invited.value && link !== undefined && (
        <div class="note state-built" role="status">
          <div>
            <p>
              Send this link to <b>{invited.value.email}</b>. It is shown once and valid until{' '}
              {exactTime(Date.parse(invited.value.expiresAt) / 1000)}.
            </p>
            <p class="row">
              <code class="wrap-anywhere">{link}</code> <Copy text={link} label="Copy the link" />
            </p>
          </div>
        </div>
      )}
    </section>
  );
}
