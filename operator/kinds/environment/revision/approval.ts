import { MAX_APPROVALS, type ApprovalStatus, type EnvironmentStatus } from '../../../../crds/environment.ts';
import type { GitRef } from '../../../../crds/git-ref.ts';
import { formatId, type ResourceId } from '../../../../crds/ids.ts';
import { approvalCommand } from '../../../../crds/approval-command.ts';
import { APPROVE_REQUEST, requestAnnotation, requestedApproval } from '../../../../crds/requests.ts';
import { Waiting } from '../../../shared/errors.ts';

/** Fallback for a missed event, in milliseconds: an approval and a new commit change the Environment. */
export const APPROVAL_RECHECK_MS = 3600_000;

/** Reason of the condition Approved, and of Reconciling, while a commit waits. */
export const WAITING_FOR_APPROVAL = 'WaitingForApproval';

/** The setting of a Repository. */
export interface ForkApprovals {
  isRequired: boolean;
  /** Whether its Git host reports who can write, so that a comment can approve. */
  byComment: boolean;
}

interface ApprovalSubject {
  /** ID of the Environment. */
  id: ResourceId;
  forkApproval: ForkApprovals;
}

/** The newest commit is a fork's, and nobody has approved it. */
export class ApprovalMissing extends Waiting {
  readonly commit: string;

  constructor(commit: string, { id, forkApproval }: ApprovalSubject, afterMs = APPROVAL_RECHECK_MS) {
    super(WAITING_FOR_APPROVAL, approvalAdvice(commit, id, forkApproval), afterMs);
    this.commit = commit;
  }
}

/** Describes what is waited for, and how to approve it. */
function approvalAdvice(commit: string, environment: ResourceId, { byComment }: ForkApprovals): string {
  const ways = [
    'in the panel',
    `with \`coppice env approve ${formatId(environment)} ${commit}\``,
    ...(byComment ? [`or, with write access, by the comment \`${approvalCommand(commit)}\``] : []),
  ].join(byComment ? ', ' : ' or ');
  return `commit ${commit} comes from a fork and is neither read nor built until a member approves it. Review it, then approve it ${ways}`;
}

/**
 * Returns whether each commit of the ref needs an approval: the Repository requires it, and the ref is a pull request
 * that does not come from the repository itself. If a host does not report where it comes from, it counts as a fork's.
 */
export function needsApproval(
  ref: GitRef,
  { forkApproval }: { forkApproval: ForkApprovals },
  { fromFork }: Pick<EnvironmentStatus, 'fromFork'>,
): boolean {
  return ref.type === 'pull request' && forkApproval.isRequired && fromFork !== false;
}

export function isApproved(approval: ApprovalStatus | undefined, commit: string): boolean {
  return approval?.commits?.some((one) => one.commit === commit) ?? false;
}

type Approval = NonNullable<ApprovalStatus['commits']>[number];

/**
 * Returns the approvals with that of a request which has not been handled yet. An approval is of one commit, also if it
 * is not the newest one; the older approvals stay.
 */
export function withRequestedApproval(
  before: ApprovalStatus | undefined,
  annotations: Record<string, string> | undefined,
  now: Date,
): { approval: ApprovalStatus | undefined; added?: Approval } {
  const request = annotations?.[requestAnnotation(APPROVE_REQUEST)];
  const requested = request === undefined ? undefined : requestedApproval(request);
  if (request === undefined || !requested || request === before?.request) return { approval: before };
  const { commit, who } = requested;
  const added = { commit, ...(who !== undefined && { by: who }), at: now.toISOString() };
  const others = (before?.commits ?? []).filter((one) => one.commit !== commit);
  return { approval: { ...before, request, commits: [added, ...others].slice(0, MAX_APPROVALS) }, added };
}

/** Returns the approvals with the commit that waits; undefined if none does. */
export function withWaiting(
  approval: ApprovalStatus | undefined,
  waitingCommit: string | undefined,
): ApprovalStatus | undefined {
  if (waitingCommit !== undefined) return { ...approval, waitingCommit };
  if (approval?.waitingCommit === undefined) return approval;
  const { request, commits } = approval;
  if (request === undefined && commits === undefined) return undefined;
  return { ...(request !== undefined && { request }), ...(commits && { commits }) };
}
