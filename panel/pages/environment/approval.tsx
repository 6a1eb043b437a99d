import type { JSX } from 'preact';
import { send } from '../../api/client.ts';
import { sentenceOf } from '../../api/errors.ts';
import { environmentPath, readEnvironmentPath, repositoryPath } from '../../api/paths.ts';
import type { EnvironmentView, RepositoryView } from '../../api/types.ts';
import { Copy } from '../../components/copy.tsx';
import { Icon } from '../../components/icons.tsx';
import { useAction } from '../../state/action.ts';
import { notify } from '../../state/notices.ts';
import { resourceOf, useResource } from '../../state/resource.ts';
import { commitUrl } from '../../view/commit-url.ts';

/** The commit of a fork that waits for an approval, with a button that approves exactly this one. */
export function Approval({ environment }: { environment: EnvironmentView }): JSX.Element | null {
  const commit = environment.approval?.waitingCommit;
  // Another commit has another button, so that a push before the click approves nothing.
  return commit === undefined ? null : <Waiting key={commit} environment={environment} commit={commit} />;
}

function Waiting({ environment, commit }: { environment: EnvironmentView; commit: string }): JSX.Element {
  const { id, rid } = environment;
  const repository = useResource<RepositoryView>(`${repositoryPath(rid)}?environments=false`).data.value;
  const url = repository && commitUrl(repository, commit);
  const approve = useAction(async () => {
    await send<EnvironmentView>('POST', `${environmentPath(id)}/approve`, { body: { commit } });
    resourceOf<EnvironmentView>(readEnvironmentPath(id)).invalidate();
    notify('Approved the commit.');
  });
  return (
    <section class="why card state-building" aria-label="Approval">
      <div class="card-head">
        <h2 class="row">
          <Icon name="warning" /> Waiting for approval
        </h2>
      </div>
      <div class="card-body stack-small">
        <p>
          A stranger may have written this commit of a fork. Review it before you approve it: it is then built and
          deployed. A later commit needs another approval.
        </p>
        <p class="row">
          {url === undefined ? (
            <code class="wrap-anywhere">{commit}</code>
          ) : (
            <a href={url} target="_blank" rel="noopener noreferrer">
              <code class="wrap-anywhere">{commit}</code>
            </a>
          )}
          <Copy text={commit} label="Copy the commit" />
        </p>
        {approve.error.value && (
          <p class="fault" role="alert">
            {sentenceOf(approve.error.value)}
          </p>
        )}
        <div>
          <button type="button" class="primary" disabled={approve.isPending.value} onClick={approve.run}>
            Approve {commit.slice(0, 7)}
          </button>
        </div>
      </div>
    </section>
  );
}
