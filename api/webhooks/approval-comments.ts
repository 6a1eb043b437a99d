import { commentNote, MAX_NOTED_COMMENTS, notedComments, type ApprovalComment } from '../../crds/approval-comments.ts';
import { REPOSITORY, type Repository } from '../../crds/repository.ts';
import { keyOf } from '../../kubernetes/resource-type.ts';
import { repositoryIndexValue, type Caches, type ClusterWriter } from '../cluster/caches.ts';
import { Unavailable } from '../shared/errors.ts';
import { currentRequestId } from '../shared/request-context.ts';

export interface ApprovalCommentsOptions {
  cluster: Pick<ClusterWriter, 'patch'>;
  repositories: Pick<Caches['repositories'], 'get' | 'observe'>;
  environments: Pick<Caches['environments'], 'byIndex'>;
  now: () => number;
}

/** By then the operator has handled the recorded comments. */
const retryAfterSeconds = 30;

/** Records comments that may approve a commit of a fork as annotations of the Repository. */
export class ApprovalComments {
  readonly #options: ApprovalCommentsOptions;

  constructor(options: ApprovalCommentsOptions) {
    this.#options = options;
  }

  /** Returns whether an environment of the pull request waits for the approval of this commit. */
  isAwaited({ metadata }: Repository, { pullRequest, commit }: ApprovalComment & { commit: string }): boolean {
    const at = repositoryIndexValue(metadata.namespace ?? '', metadata.name);
    return this.#options.environments
      .byIndex('repository', at)
      .some(
        ({ spec: { gitRef }, status }) =>
          gitRef.type === 'pull request' &&
          gitRef.name === `${pullRequest}` &&
          status?.approval?.waitingCommit === commit,
      );
  }

  /** @throws Unavailable when too many comments are recorded already */
  async note(repository: Repository, comment: ApprovalComment): Promise<void> {
    const { cluster, repositories, now } = this.#options;
    const { namespace, name, uid } = repository.metadata;
    const [annotation, value] = commentNote(comment, new Date(now()), currentRequestId());
    const noted = notedComments((repositories.get(keyOf(repository)) ?? repository).metadata.annotations);
    if (noted.length >= MAX_NOTED_COMMENTS && !noted.some((one) => one.annotation === annotation)) {
      const message = `${MAX_NOTED_COMMENTS} comments of this repository are waiting to be read. Deliver this one again later`;
      throw new Unavailable(message, { retryAfterSeconds });
    }
    // The UID makes the API server refuse the patch for another object of the same name.
    const patch = { metadata: { uid, annotations: { [annotation]: value } } };
    repositories.observe(await cluster.patch<Repository>(REPOSITORY, { namespace, name }, patch));
  }
}
