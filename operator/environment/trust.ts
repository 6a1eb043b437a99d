import type { ConditionReport } from '../../crds/conditions.ts';
import type { EnvironmentStatus } from '../../crds/environment.ts';
import type { GitRef } from '../../crds/git-ref.ts';
import type { RepositoryConfiguration } from '../repository/configuration.ts';

/**
 * Whether what is built was written by people who may push to the repository. A fork's pull request was not, and a
 * host that does not say where one comes from leaves every pull request open to doubt.
 */
export function isTrusted(
  ref: GitRef,
  { trustForks }: Pick<RepositoryConfiguration, 'trustForks'>,
  { fromFork }: Pick<EnvironmentStatus, 'fromFork'>,
): boolean {
  return ref.type !== 'pull request' || trustForks || fromFork === false;
}

const withheld =
  'it is built in a builder that is thrown away, and runs, without variables and credentials, unless the Repository says trustForks';

/** What the condition `Trusted` says of a pull request; of a branch or a tag there is no doubt. */
export function trustReport(
  ref: GitRef,
  { trustForks }: Pick<RepositoryConfiguration, 'trustForks'>,
  { fromFork }: Pick<EnvironmentStatus, 'fromFork'>,
): ConditionReport | undefined {
  if (ref.type !== 'pull request') return undefined;
  if (fromFork === false) {
    return told(
      'True',
      'SameRepository',
      'its commits are in the repository itself: only who may push there wrote them',
    );
  }
  if (trustForks) {
    return told('True', 'TrustForks', 'the Repository says trustForks: forks get its variables and credentials');
  }
  return fromFork
    ? told('False', 'Fork', `it comes from a fork: ${withheld}`)
    : told('False', 'Unknown', `it is not known whether it comes from a fork: ${withheld}`);
}

function told(status: ConditionReport['status'], reason: string, message: string): ConditionReport {
  return { type: 'Trusted', status, reason, message };
}
