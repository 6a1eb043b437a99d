import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { send } from '../../api/client.ts';
import type { ApiTokenView } from '../../api/types.ts';
import { Confirm } from '../../components/confirm.tsx';
import { Copy } from '../../components/copy.tsx';
import { Form, SelectField, TextField } from '../../components/form.tsx';
import { Table } from '../../components/table.tsx';
import { Ago } from '../../components/times.tsx';
import { useAction } from '../../state/action.ts';
import { now } from '../../state/clock.ts';
import { useQuery } from '../../state/page.ts';
import { reloadUser } from '../../state/session.ts';

const accesses = [
  ['read', 'Read'],
  ['operate', 'Read and operate: spawn, build, delete contents'],
  ['administer', 'Everything that you can do'],
] as const;
type Access = (typeof accesses)[number][0];
const defaultDays = '90';

/** Tokens for scripts. A new one is shown once. */
export function ApiTokens({ tokens }: { tokens: readonly ApiTokenView[] }): JSX.Element {
  const { query, setQuery } = useQuery();
  const chosen = tokens.find(({ Name }) => Name === query['name']);
  return (
    <section class="stack-small">
      <h2>API tokens</h2>
      {tokens.length === 0 ? (
        <p class="muted">
          A token lets scripts and CI use the REST API, in the header <code>X-SERVICE-TOKEN</code>.
        </p>
      ) : (
        <Table columns={['Name', 'Access', 'Expires']} hasActions>
          {tokens.map((token) => (
            <tr key={token.Name}>
              <td class="isolate">{token.Name}</td>
              <td>{accessText(token)}</td>
              <td>
                <Expiry at={Date.parse(token.ExpiresOn) / 1000} />
              </td>
              <td class="actions">
                <button
                  type="button"
                  class="ghost danger-text"
                  aria-label={`Delete ${token.Name}`}
                  onClick={() => setQuery({ dialog: 'delete-token', name: token.Name })}
                >
                  Delete
                </button>
              </td>
            </tr>
          ))}
        </Table>
      )}
      <CreateToken />
      {query['dialog'] === 'delete-token' && chosen && (
        <Confirm
          title="Delete the API token"
          verb="Delete"
          act={async () => {
            await send('DELETE', '/api/user/tokens', { body: { name: chosen.Name } });
            await reloadUser();
          }}
          onClose={() => setQuery({ dialog: undefined, name: undefined })}
        >
          <p>
            Scripts that use <b class="isolate">{chosen.Name}</b> can no longer log in.
          </p>
        </Confirm>
      )}
    </section>
  );
}

function Expiry({ at }: { at: number }): JSX.Element {
  return at * 1000 < now.value ? <span class="fault">expired</span> : <Ago at={at} />;
}

function accessText({ ReadOnly, Scopes }: ApiTokenView): string {
  const access = ReadOnly === 'true' ? 'read' : (Scopes?.access ?? 'administer');
  const reach = [...(Scopes?.groups ?? []), ...(Scopes?.repositories ?? [])];
  return reach.length === 0 ? access : `${access}: ${reach.join(', ')}`;
}

function CreateToken(): JSX.Element {
  const name = useSignal('');
  const access = useSignal<Access>('operate');
  const reach = useSignal('');
  const days = useSignal(defaultDays);
  const created = useSignal<{ name: string; token: string } | undefined>(undefined);
  const action = useAction(async () => {
    const ids = reach.value.split(/[\s,]+/).filter((id) => id !== '');
    const groups = ids.filter((id) => !id.includes('.'));
    const repositories = ids.filter((id) => id.includes('.'));
    const scopes = {
      ...(access.value !== 'administer' && { access: access.value }),
      ...(groups.length > 0 && { groups }),
      ...(repositories.length > 0 && { repositories }),
    };
    const expirationTime = new Date(Date.now() + Number(days.value) * 24 * 3600 * 1000).toISOString();
    const body = { name: name.value, expirationTime, ...(Object.keys(scopes).length > 0 && { scopes }) };
    const { token } = await send<{ token: string }>('POST', '/api/user/tokens', { body });
    created.value = { name: name.value, token };
    name.value = '';
    await reloadUser();
  });
  return (
    <>
      {created.value && (
        <div class="note state-built" role="status">
          <div>
            <p>
              The token <b class="isolate">{created.value.name}</b> is shown once. Copy it now.
            </p>
            <p class="row">
              <code class="wrap-anywhere">{created.value.token}</code>
              <Copy text={created.value.token} label="Copy the token" />
            </p>
          </div>
        </div>
      )}
      <details>
        <summary>Create an API token</summary>
        <Form action={action} verb="Create" label="Create an API token">
          <TextField label="Name" name="name" value={name.value} onInput={(text) => (name.value = text)} isRequired />
          <SelectField
            label="Access"
            name="scopes.access"
            value={access.value}
            options={accesses}
            onInput={(value) => (access.value = value)}
          />
          <TextField
            label="Groups and repositories"
            name="scopes"
            value={reach.value}
            onInput={(text) => (reach.value = text)}
            placeholder="all"
            hint="Ids, such as acme or acme.shop. Empty for all that you see."
          />
          <TextField
            label="Days until it expires"
            name="expirationTime"
            type="number"
            value={days.value}
            onInput={(text) => (days.value = text)}
            isRequired
          />
        </Form>
      </details>
    </>
  );
}
