import type { JSX } from 'preact';
import type { RepositoryHead } from '../../api/types.ts';
import { Icon } from '../../components/icons.tsx';
import { problemOf, reasonText } from '../../view/conditions.ts';

/** The reason why a repository cannot be read, or has no refs yet, if there is one. */
export function RepositoryProblem({ repository }: { repository: RepositoryHead }): JSX.Element | null {
  if (repository.deleting) {
    return (
      <div class="note note-degraded" role="status">
        <Icon name="warning" />
        <p>The repository is being deleted, with its environments.</p>
      </div>
    );
  }
  const problem = problemOf(repository.conditions);
  const first = repository.conditions.find(({ type, status }) => type === 'Synced' && status === 'Unknown');
  if (!problem && first) {
    return (
      <div class="note state-created" role="status">
        <Icon name="clock" />
        <p>The branches, tags and pull requests have not been read yet: {first.message}. Sync reads them now.</p>
      </div>
    );
  }
  if (!problem) return null;
  return (
    <div class="note note-failed">
      <Icon name="cross" />
      <div>
        <p>
          <b title={problem.reason}>{reasonText(problem.reason)}</b>
        </p>
        <p class="isolate">{problem.message}</p>
      </div>
    </div>
  );
}
