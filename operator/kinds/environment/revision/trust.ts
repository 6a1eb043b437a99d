import type { ConditionReport } from '../../../../crds/conditions.ts';
import type { EnvironmentStatus } from '../../../../crds/environment.ts';
import type { GitRef } from '../../../../crds/git-ref.ts';
import type { RepositoryConfiguration } from '../../repository/configuration.ts';

/**
 * Returns whether only people with push access to the repository wrote the code. A fork's pull request is not trusted;
 * if a host does not report where pull requests come from, none is.
 */
export function isTrusted(
  ref: GitRef,
  { trustForks }: Pick<RepositoryConfiguration, 'trustForks'>,
  { fromFork }: Pick<EnvironmentStatus, 'fromFork'>,
): boolean {
  return ref.type !== 'pull request' || trustForks || fromFork === false;
}

const withheld =
  'it is built in an ephemeral builder and runs without variables and credentials, unless the Repository sets trustForks';

/** Returns the condition `Trusted` of a pull request; branches and tags are always trusted. */
export function trustReport(
  ref: GitRef,
  { trustForks }: Pick<RepositoryConfiguration, 'trustForks'>,
  { fromFork }: Pick<EnvironmentStatus, 'fromFork'>,
): ConditionReport | undefined {
  if (ref.type !== 'pull request') return undefined;
  if (fromFork === false) {
    return reported(
      'True',
      'SameRepository',
      'its commits are in the repository itself: only people with push access wrote them',
    );
  }
  if (trustForks) {
    return reported(
      'True',
      'TrustForks',
      'the Repository sets trustForks: forks receive its variables and credentials',
    );
  }
  return fromFork
    ? reported('False', 'Fork', `it comes from a fork: ${withheld}`)
    : reported('False', 'Unknown', `it may come from a fork: ${withheld}`);
}

function reported(status: ConditionReport['status'], reason: string, message: string): ConditionReport {
  return { type: 'Trusted', status, reason, message };
}
