import type { JSX } from 'preact';
import { useLocation } from 'preact-iso/router';
import { send } from '../../api/client.ts';
import type { CountedRepository } from '../../api/items.ts';
import { groupPath } from '../../api/paths.ts';
import { Confirm } from '../../components/confirm.tsx';
import { notify } from '../../state/notices.ts';
import { useQuery } from '../../state/page.ts';
import { contentsText } from '../../view/group-contents.ts';

interface DeleteGroupProps {
  id: string;
  name: string;
  /** Undefined until they are loaded. */
  repositories: readonly CountedRepository[] | undefined;
}

export function DeleteGroup({ id, name, repositories }: DeleteGroupProps): JSX.Element {
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
          typed={id}
          act={async () => {
            await send('DELETE', groupPath(id));
            notify('Deletion requested.');
          }}
          onDone={() => route('/')}
          onClose={() => setQuery({ dialog: undefined })}
        >
          <p>
            Deletes <b class="isolate">{name}</b> with {repositories ? contentsText(repositories) : 'its repositories'},
            and their volumes and variables. This cannot be undone.
          </p>
        </Confirm>
      )}
    </section>
  );
}
