import type { Logger } from 'pino';
import { commandedCommit } from '../../../crds/approval-command.ts';
import { notedComments, type NotedApprovalComment } from '../../../crds/approval-comments.ts';
import { ENVIRONMENT, type Environment } from '../../../crds/environment.ts';
import { REPOSITORY, repositorySchema, type Repository } from '../../../crds/repository.ts';
import { APPROVE_REQUEST, approveRequestValue, nextRequestTime, requestAnnotation } from '../../../crds/requests.ts';
import { isConflict, isNotFound } from '../../../kubernetes/api-error.ts';
import type { ClusterClient } from '../../../kubernetes/client.ts';
import type { ReconcileResult } from '../../../kubernetes/controller.ts';
import type { Informer } from '../../../kubernetes/informer.ts';
import { keyOf } from '../../../kubernetes/resource-type.ts';
import { Stalled } from '../../shared/errors.ts';
import { parseObject } from '../../shared/parse-object.ts';
import { SourceRefusedError, waitWhileBusy } from '../../source/errors.ts';
import type { GitHosts } from '../../source/hosts/git-hosts.ts';
import type { GitHost, WrittenComment } from '../../source/hosts/host.ts';
import { confirmHostRepository } from './host-repository.ts';

export interface CommentApprovalsOptions {
  client: Pick<ClusterClient, 'patch'>;
  repositories: Pick<Informer<Repository>, 'get'>;
  environments: Pick<Informer<Environment>, 'byIndex' | 'observe'>;
  hosts: Pick<GitHosts, 'of'>;
  logger: Pick<Logger, 'warn'>;
  now: () => Date;
}

/** Conflicts with another write of the Repository are over by then. */
const conflictRetryMs = 500;

/**
 * Approves commits of forks by comments. A delivery only names a comment: its text, its author and whether the author can
 * write are what the Git host answers to the repository's token.
 */
export class CommentApprovals {
  readonly #options: CommentApprovalsOptions;

  constructor(options: CommentApprovalsOptions) {
    this.#options = options;
  }

  /** Throws Waiting while the host limits requests, and other errors of the host, which are retried. */
  async reconcile(key: string): Promise<ReconcileResult> {
    const { repositories, hosts } = this.#options;
    const found = repositories.get(key);
    if (!found || found.metadata.deletionTimestamp !== undefined) return {};
    const { object: repository, problem } = parseObject(repositorySchema, found);
    const noted = problem ? [] : notedComments(repository.metadata.annotations);
    if (noted.length === 0) return {};
    try {
      const host = await hosts.of(repository);
      await confirmHostRepository(repository.status, host);
      for (const comment of noted) await this.#approve(repository, comment, host);
    } catch (error) {
      if (!isRefusal(error)) throw waitWhileBusy(error);
      const fields = { err: error, repository: key };
      this.#options.logger.warn(fields, 'comments that approve commits could not be verified at the Git host');
    }
    return this.#takeAway(repository, noted);
  }

  async #approve(repository: Repository, comment: NotedApprovalComment, host: GitHost): Promise<void> {
    const { client, environments, now } = this.#options;
    const waiting = environments.byIndex('repository', keyOf(repository)).filter(({ spec: { gitRef }, status }) => {
      const isOf = gitRef.type === 'pull request' && gitRef.name === `${comment.pullRequest}`;
      return isOf && status?.approval?.waitingCommit !== undefined;
    });
    if (waiting.length === 0) return;
    const written = await host.writtenComment(comment.pullRequest, comment.comment);
    const commit = written && approvedBy(written);
    for (const { metadata, status } of waiting) {
      if (commit === undefined || status?.approval?.waitingCommit !== commit) continue;
      const { namespace, name, uid, annotations } = metadata;
      const at = nextRequestTime(now(), annotations);
      const approval = { commit, who: `${written?.author ?? ''} at ${new URL(host.webUrl).host}` };
      const value = approveRequestValue(at, `comment-${comment.comment}`, approval);
      const patch = { metadata: { uid, annotations: { [requestAnnotation(APPROVE_REQUEST)]: value } } };
      try {
        environments.observe(await client.patch<Environment>(ENVIRONMENT, { namespace, name }, patch));
      } catch (error) {
        // Deleted or replaced meanwhile.
        if (!isNotFound(error) && !isConflict(error)) throw error;
      }
    }
  }

  /** Removes what was handled, unless the Repository has changed meanwhile, perhaps by a newer comment. */
  async #takeAway(repository: Repository, noted: readonly NotedApprovalComment[]): Promise<ReconcileResult> {
    const { namespace, name, resourceVersion } = repository.metadata;
    const annotations = Object.fromEntries(noted.map(({ annotation }) => [annotation, null]));
    try {
      await this.#options.client.patch(
        REPOSITORY,
        { namespace, name },
        { metadata: { annotations } },
        { resourceVersion },
      );
      return {};
    } catch (error) {
      if (isConflict(error)) return { requeueAfterMs: conflictRetryMs };
      if (isNotFound(error)) return {};
      throw error;
    }
  }
}

function approvedBy({ body, canWrite }: WrittenComment): string | undefined {
  return canWrite ? commandedCommit(body) : undefined;
}

/** Returns whether the user must act first: the comment approves nothing until it is repeated. */
function isRefusal(error: unknown): boolean {
  return error instanceof Stalled || error instanceof SourceRefusedError;
}

/** Returns whether the recorded comments of a Repository have changed, and there are any. */
export function hasNewComments(now: Repository, old: Repository | undefined): boolean {
  const of = ({ metadata: { annotations = {} } }: Repository) =>
    notedComments(annotations)
      .map(({ annotation }) => `${annotation} ${annotations[annotation] ?? ''}`)
      .sort()
      .join();
  const noted = of(now);
  return noted !== '' && (old === undefined || noted !== of(old));
}
