import type { Environment, EnvironmentStatus } from '../../../crds/environment.ts';
import type { BuildStatus } from '../../../crds/environment-build.ts';
import { formatId, idOf } from '../../../crds/ids.ts';
import type { CommitStatus } from '../../source/hosts/host.ts';
import { oneLine } from '../../shared/one-line.ts';
import { commentBody, commentMarker } from './comment.ts';
import { testSteps } from './due-tests.ts';
import { currentBuild, logsUrlOf, waitingCommit } from './current-build.ts';
import { hashOfValue } from './hash.ts';
import type { Step } from './step.ts';

/**
 * Returns what must be reported to the Git host about an Environment; nothing if its status shows that all was
 * reported. `ofRef`: all Environments of its repository and ref, including itself.
 */
export function dueFeedback(environment: Environment, ofRef: readonly Environment[], apiUrl: URL): Step[] {
  const isWriter = commentWriter(ofRef)?.metadata.name === environment.metadata.name;
  return [...(isWriter ? dueComment(environment, ofRef, apiUrl) : []), ...dueStatuses(environment, apiUrl)];
}

/** Returns the part of dueFeedback() that depends on the Environment alone. */
export function dueStatuses(environment: Environment, apiUrl: URL): Step[] {
  return unreported(environment, [...statusSteps(environment, apiUrl), ...testSteps(environment, apiUrl)]);
}

/** Returns the part of dueFeedback() that all Environments of a pull request share. `writer`: of commentWriter(). */
export function dueComment(writer: Environment, ofRef: readonly Environment[], apiUrl: URL): Step[] {
  return unreported(writer, commentSteps(writer, ofRef, apiUrl));
}

function unreported({ status }: Environment, steps: readonly Step[]): Step[] {
  const { comment, status: ofBuild, tests } = status?.feedback ?? {};
  const recorded = { comment, status: ofBuild, tests: tests?.hash };
  return steps.filter((step) => step.hash !== recorded[step.kind]);
}

function statusSteps(environment: Environment, apiUrl: URL): Step[] {
  const { status = {} } = environment;
  const { feedback = {} } = status;
  const build = currentBuild(environment);
  const isUnderWay = build?.result === 'running';
  // Reported once the commit is known.
  if (isUnderWay && build.commit === undefined) return [];
  const wanted = wantedStatus(environment, build);
  const steps: Step[] = [];
  if (feedback.commit !== undefined && feedback.state === 'pending' && wanted?.commit !== feedback.commit) {
    const { commit } = feedback;
    const outcome = build?.commit === commit ? outcomeOf(build) : undefined;
    const description = outcome?.description ?? endOfPending(status.build, commit, build !== undefined);
    steps.push(statusStep(commit, outcome?.state ?? 'failure', description));
  }
  if (wanted) steps.push(statusStep(wanted.commit, wanted.state, wanted.description));
  return steps;

  function statusStep(commit: string, state: CommitStatus['state'], description: string): Step {
    const of = status.build?.commit === commit ? status.build.number : undefined;
    const logsUrl = logsUrlOf(environment, apiUrl, of);
    const commitStatus: CommitStatus = {
      context: `coppice/${formatId(idOf(environment))}`,
      state,
      description: oneLine(description),
      targetUrl: state === 'success' ? (status.webURL ?? logsUrl) : logsUrl,
    };
    return { kind: 'status', commit, status: commitStatus, hash: hashOfValue([commit, commitStatus]) };
  }
}

/** Returns the step for the pull request's comment, which one of its environments writes and records for all. */
function commentSteps(environment: Environment, ofRef: readonly Environment[], apiUrl: URL): Step[] {
  const { gitRef } = environment.spec;
  if (gitRef.type !== 'pull request') return [];
  const recorded = ofRef.map(({ status }) => status?.feedback?.commentId).find((id) => id !== undefined);
  // Without any build, or one that waits, there is no comment, to avoid noise.
  const isNews = ofRef.some((one) => currentBuild(one) ?? waitingCommit(one));
  if (recorded === undefined && !isNews) return [];
  const marker = commentMarker(environment, apiUrl);
  const body = commentBody(ofRef, marker, apiUrl);
  const location = {
    pullRequest: Number(gitRef.name),
    marker,
    id: environment.status?.feedback?.commentId ?? recorded,
  };
  return [{ kind: 'comment', location, body, hash: hashOfValue(body) }];
}

/**
 * Returns the environment that writes the comment: preferably one that is not being deleted, then the previous writer,
 * then the first by name.
 */
export function commentWriter(ofRef: readonly Environment[]): Environment | undefined {
  const rank = ({ metadata, status }: Environment) =>
    Number(metadata.deletionTimestamp !== undefined) * 2 + Number(status?.feedback?.commentId === undefined);
  const isBefore = (one: Environment, other: Environment) =>
    rank(one) - rank(other) || (one.metadata.name < other.metadata.name ? -1 : 1);
  return ofRef.reduce<Environment | undefined>(
    (best, one) => (best && isBefore(best, one) < 0 ? best : one),
    undefined,
  );
}

/** Returns the status to report: of a commit that waits for an approval, unless a build is running, else of the build. */
function wantedStatus(
  environment: Environment,
  build: BuildStatus | undefined,
): (Pick<CommitStatus, 'state' | 'description'> & { commit: string }) | undefined {
  const waiting = build?.result === 'running' ? undefined : waitingCommit(environment);
  if (waiting !== undefined) {
    return { commit: waiting, state: 'pending', description: 'waits for a member to approve this commit of a fork' };
  }
  const outcome = build && outcomeOf(build);
  return outcome && build.commit !== undefined ? { commit: build.commit, ...outcome } : undefined;
}

function outcomeOf(build: BuildStatus): Pick<CommitStatus, 'state' | 'description'> | undefined {
  const { number, result, message = '' } = build;
  switch (result) {
    case 'running':
      return {
        state: 'pending',
        description: message === '' ? `build ${number} is under way` : `build ${number}: ${message}`,
      };
    case 'succeeded':
      return { state: 'success', description: `build ${number}: ${message}` };
    case 'failed':
      return { state: 'failure', description: `build ${number} failed: ${message}` };
    default:
      return undefined;
  }
}

/** Returns why a commit's pending status ends. `isBuilt`: whether the build belongs to the current contents. */
function endOfPending(build: EnvironmentStatus['build'], commit: string, isBuilt: boolean): string {
  if (build?.commit === commit && build.result !== 'running') {
    return `build ${build.number} was ${build.result}: ${build.message ?? ''}`;
  }
  return !isBuilt || build?.commit === undefined || build.commit === commit
    ? 'its contents were removed'
    : `superseded: the ref has moved on to ${build.commit.slice(0, 12)}`;
}
