import type { Logger } from 'pino';
import type { Environment } from '../../../../crds/environment.ts';
import type { GitRef } from '../../../../crds/git-ref.ts';
import { keyOf } from '../../../../kubernetes/resource-type.ts';
import { describe } from '../../../shared/conditions.ts';
import { Stalled } from '../../../shared/errors.ts';
import { HostBusyError, SourceRefusedError, SourceUnreachableError, waitWhileBusy } from '../../../source/errors.ts';
import type { Source } from '../../../source/git/source.ts';
import type { PhaseResult } from '../scope/phase.ts';
import type { EnvironmentScope } from '../scope/scope.ts';
import { APPROVAL_RECHECK_MS, ApprovalMissing, needsApproval, withRequestedApproval, withWaiting } from './approval.ts';

/** An approval that was recorded. */
export interface Approved {
  environment: Environment;
  commit: string;
  by: string | undefined;
  /** Value of the request. */
  request: string | undefined;
}

export interface ApprovalPhaseOptions {
  source: Pick<Source, 'resolve'>;
  audit: (approved: Approved) => void;
}

type ApprovalResult = PhaseResult<'approval', 'Approved'>;

const hostRecheckMs = 30_000;

/**
 * Records approvals, and has a fork's commit wait for one. It runs before a namespace is created, and reads nothing of
 * the fork but the ID of its newest commit. The plan of a revision checks the approval of the commit that it reads.
 */
export class ApprovalPhase {
  readonly #options: ApprovalPhaseOptions;

  constructor(options: ApprovalPhaseOptions) {
    this.#options = options;
  }

  async run(scope: EnvironmentScope): Promise<ApprovalResult> {
    const recorded = this.#record(scope);
    const current = scope.with(recorded);
    const { gitRef } = scope.environment.spec;
    if (!scope.isActive || !needsApproval(gitRef, scope, scope)) return { ...recorded, ...notWaiting(current) };
    return isPlanDue(scope) ? { ...recorded, ...(await this.#check(current, gitRef)) } : recorded;
  }

  #record(scope: EnvironmentScope): ApprovalResult {
    const { environment, status, now } = scope;
    const { approval, added } = withRequestedApproval(status.approval, environment.metadata.annotations, now);
    if (!added) return {};
    this.#options.audit({ environment, commit: added.commit, by: added.by, request: approval?.request });
    return { status: { approval }, write: true };
  }

  async #check(scope: EnvironmentScope, gitRef: GitRef): Promise<ApprovalResult> {
    let commit: string;
    try {
      const location = await scope.locate();
      if (!needsApproval(gitRef, scope, scope)) return notWaiting(scope);
      commit = await this.#options.source.resolve(location, gitRef);
    } catch (error) {
      return withoutNewest(scope, error);
    }
    return decided(scope, commit);
  }
}

/** Returns the result when no approval is waited for. */
function notWaiting({ status }: EnvironmentScope): ApprovalResult {
  return { status: { approval: withWaiting(status.approval, undefined) }, conditions: { Approved: undefined } };
}

/** @param commit the newest one */
function decided(scope: EnvironmentScope, commit: string): ApprovalResult {
  const { approval } = scope.status;
  const found = approval?.commits?.find((one) => one.commit === commit);
  if (found) {
    const message = `commit ${commit} was approved${found.by === undefined ? '' : ` by ${found.by}`}`;
    return {
      status: { approval: withWaiting(approval, undefined) },
      conditions: { Approved: { status: 'True', reason: 'Approved', message } },
    };
  }
  const missing = new ApprovalMissing(commit, scope);
  const { reason, message } = missing;
  return {
    status: { approval: withWaiting(approval, commit) },
    conditions: { Approved: { status: 'False', reason, message } },
    // What is deployed keeps running.
    ...(scope.isSetUp
      ? { observed: { awaitsApproval: true }, requeueAfterMs: APPROVAL_RECHECK_MS }
      : { failure: missing }),
  };
}

/** Returns whether a commit will be read. */
function isPlanDue({ isSetUp, isBuildPending, runningBuild }: EnvironmentScope): boolean {
  return !isSetUp || isBuildPending || (runningBuild !== undefined && runningBuild.revision === undefined);
}

/** The newest commit is not known. What is deployed keeps running; nothing is set up. */
function withoutNewest({ isSetUp }: EnvironmentScope, error: unknown): ApprovalResult {
  if (!isSetUp) {
    if (error instanceof SourceRefusedError) throw new Stalled(error.reason, error.message, { cause: error });
    throw waitWhileBusy(error);
  }
  // The build reports why it cannot read the commit.
  if (error instanceof SourceRefusedError) return {};
  if (!(error instanceof SourceUnreachableError)) throw error;
  return {
    conditions: { Approved: { status: 'Unknown', reason: 'HostUnreachable', message: describe(error) } },
    observed: { awaitsApproval: true },
    requeueAfterMs: error instanceof HostBusyError ? error.retryAfterMs : hostRecheckMs,
  };
}

/** Returns a function that logs a line marked `audit: true` for each recorded approval, at every log level. */
export function auditApprovals(logger: Pick<Logger, 'child'>): (approved: Approved) => void {
  const log = logger.child({}, { level: 'info' });
  return ({ environment, commit, by, request }) => {
    const change = { verb: 'approve', kind: 'Environment', key: keyOf(environment) };
    const requestId = request?.split('/')[1];
    log.info(
      { audit: true, actor: 'operator', reason: 'Approved', commit, approvedBy: by, requestId, changes: [change] },
      'audit',
    );
  };
}
