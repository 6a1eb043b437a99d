import type { JSX } from 'preact';
import { send } from '../../api/client.ts';
import type { SessionView } from '../../api/types.ts';
import { Confirm } from '../../components/confirm.tsx';
import { LoadError, Skeleton } from '../../components/error-note.tsx';
import { Table } from '../../components/table.tsx';
import { Ago } from '../../components/times.tsx';
import { notify } from '../../state/notices.ts';
import { useQuery } from '../../state/page.ts';
import { useResource } from '../../state/resource.ts';
import { clientText } from '../../view/client-text.ts';

const path = '/api/user/sessions';

/** Where the account is logged in. A login that nobody recognizes can be ended. */
export function Sessions(): JSX.Element {
  const { query, setQuery } = useQuery();
  const resource = useResource<SessionView[]>(path);
  const sessions = resource.data.value;
  const error = resource.error.value;
  const chosen = sessions?.find(({ id }) => id === query['name']);
  return (
    <section class="stack-small">
      <h2>Logins</h2>
      {!sessions ? (
        error ? (
          <LoadError error={error} retry={() => void resource.reload()} what="list of logins" />
        ) : (
          <Skeleton what="logins" lines={3} />
        )
      ) : (
        <Table columns={['Program', 'Logged in', 'Last used']} hasActions>
          {sessions.map((one) => (
            <tr key={one.id}>
              <td title={one.client} class="isolate">
                {clientText(one.client)}
                {one.current && <span class="muted"> (this one)</span>}
              </td>
              <td class="muted">
                <span class="only-narrow">logged in </span>
                <Ago at={one.createdAt} />
              </td>
              <td class="muted">
                <span class="only-narrow">used </span>
                <Ago at={one.usedAt} />
              </td>
              <td class="actions">
                {!one.current && (
                  <button
                    type="button"
                    class="ghost danger-text"
                    aria-label={`End the login of ${clientText(one.client)}`}
                    onClick={() => setQuery({ dialog: 'end-login', name: one.id })}
                  >
                    End
                  </button>
                )}
              </td>
            </tr>
          ))}
        </Table>
      )}
      {query['dialog'] === 'end-login' && chosen && (
        <Confirm
          title="End the login"
          verb="End the login"
          act={async () => {
            await send('DELETE', `${path}/${encodeURIComponent(chosen.id)}`);
            resource.invalidate();
            notify('Ended the login.');
          }}
          onClose={() => setQuery({ dialog: undefined, name: undefined })}
        >
          <p>
            <b class="isolate">{clientText(chosen.client)}</b> must log in again. What it has started goes on; API
            tokens stay valid.
          </p>
        </Confirm>
      )}
    </section>
  );
}
