import type { GitRef } from '../../../../crds/git-ref.ts';
import type { IncludedRepositoryStatus } from '../../../../crds/included-repository.ts';
import type { EnvironmentFacts } from '../../../../service-file/own-variables.ts';
import { Stalled } from '../../../shared/errors.ts';
import type { RefLocation } from '../../../source/git/source.ts';
import type { RepositoryConfiguration } from '../../repository/configuration.ts';
import type { IncludedSources } from './included-repositories.ts';
import type { RevisionLocation } from './revision.ts';

export interface PlanRequest {
  group: string;
  /** Key of the Environment. */
  environment: string;
  configuration: RepositoryConfiguration;
  ref: GitRef;
  /** What is known about the environment, apart from its commits. */
  facts: Omit<EnvironmentFacts, 'registry'>;
  /** Number of the build that is planned, or of the next one. */
  build: number;
  /** Returns the location of the ref's commits. */
  locate: () => Promise<RefLocation>;
  /** Whether only people with push access wrote the code; known once the ref is located. */
  isTrusted: () => boolean;
  /** Throws Waiting if this commit must not be read, because it is a fork's that nobody has approved. */
  requireApproval: (commit: string) => void;
  /** The other repositories that the service file can include; known, as the trust, once the ref is located. */
  included: IncludedSources;
  location: RevisionLocation;
  /** IDs of the revisions that the status references. */
  kept: readonly string[];
  /** Whether nothing has been planned there yet: the commit is read without looking for its revision. */
  isFirst?: boolean;
}

/** The user must act on the service file of this commit, or on what it references. */
export class CommitRefused extends Stalled {
  readonly commit: string;
  /** The included repositories, if it is known which they are. */
  readonly repositories: readonly IncludedRepositoryStatus[] | undefined;

  constructor(commit: string, { reason, message, cause }: Stalled, repositories?: readonly IncludedRepositoryStatus[]) {
    super(reason, message, { cause });
    this.commit = commit;
    this.repositories = repositories;
  }
}
