import type { JSX } from 'preact';
import { useLocation } from 'preact-iso/router';
import { send } from '../../api/client.ts';
import { groupPath } from '../../api/paths.ts';
import { Confirm } from '../../components/confirm.tsx';
import { notify } from '../../state/notices.ts';
import { useQuery } from '../../state/page.ts';

export function DeleteGroup({ id, name }: { id: string; name: string }): JSX.Element {
  const { query, setQuery } = useQuery();
  const { route } = useLocation();
  return (
    <section class="stack-small">
      <h2>Delete the group</h2>
      <p class="muted">Only an owner can delete a group.</p>
      <div>
        <button type="button" class="danger" onClick={() => setQuery({ dialog: 'delete-group' })}>
          Delete the group
        </button>
      </div>
      {query['dialog'] === 'delete-group' && (
        <Confirm
          title="Delete the group"
          verb="Delete the group"
          act={async () => {
            await send('DELETE', groupPath(id));
            notify('Deletion requested.');
            route('/');
          }}
          onClose={() => setQuery({ dialog: undefined })}
        >
          <p>
            Deletes <b class="isolate">{name}</b> with all its repositories, environments, volumes and variables.
          </p>
        </Confirm>
      )}
    </section>
  );
}
