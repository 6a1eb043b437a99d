import type { AuthorFacts, PullRequestFacts } from '../../../crds/rule-decision.ts';
import type { RefLocation, SourceAccess } from '../git/source.ts';

/** Permissions of a repository's credentials; undefined if the host does not report them. */
export interface Capabilities {
  statuses: boolean | undefined;
  hooks: boolean | undefined;
}

/** An open pull request, or a merge request. */
export interface PullRequest {
  number: number;
  /** Head commit, full length; undefined if the host reports only an abbreviated one, and git must be asked. */
  commit: string | undefined;
  /**
   * Whether the commits come from another repository, and thus from authors without push access here; undefined if the
   * host does not report it.
   */
  isFork: boolean | undefined;
  /** Branch that the commits are on; undefined if the host does not report it. */
  sourceBranch?: string | undefined;
  location: RefLocation;
}

/** A pull request in the list of open ones, which reports what rules decide by. */
export interface ListedPullRequest extends PullRequest {
  facts: Omit<PullRequestFacts, 'isFork'>;
}

export interface CommitStatus {
  /** Distinguishes the statuses of a commit; one for each environment. */
  context: string;
  /** `error`: the result is unknown. A host without this state shows a failure. */
  state: 'pending' | 'success' | 'failure' | 'error';
  description: string;
  /** URL that the host links to. */
  targetUrl: string;
}

/** Locates the last written comment on a pull request by its ID at the host. */
export interface CommentLocation {
  pullRequest: number;
  /**
   * The body's last line, by which the comment is found if its ID is unknown. The marker on another line is ignored,
   * because the text above can be output of programs.
   */
  marker: string;
  id?: string | undefined;
}

/** A comment on a pull request, as the host reports it to the repository's token. */
export interface WrittenComment {
  body: string;
  /** Name of the author at the host. */
  author: string;
  /** Whether the author can push to the repository. */
  canWrite: boolean;
}

export interface Webhook {
  url: string;
  secret: string;
  /** Whether comments on pull requests are reported too; ignored by hosts that do not report who can write. */
  comments?: boolean;
}

/**
 * One repository at its Git host. Every call throws SourceRefusedError when the user must act, HostBusyError when the
 * host limits requests, and SourceUnreachableError for temporary failures. A list is returned whole or not at all, so
 * that a partial response never looks like a closed pull request.
 */
export interface GitHost {
  /** How git reads the repository. */
  readonly access: SourceAccess;
  /** Web address without credentials. */
  readonly webUrl: string;
  /** Checks that the repository exists; returns what its credentials permit. */
  check(): Promise<Capabilities>;
  /**
   * Returns the host's ID of the repository, which changes when another repository gets the same name; undefined if the
   * host has none.
   */
  repositoryId(): Promise<string | undefined>;
  /**
   * Lists all open pull requests; undefined if the host has no such list.
   * @param needs.authors whether to request the authors' roles, if that takes more requests
   */
  openPullRequests(needs?: { authors?: boolean }): Promise<readonly ListedPullRequest[] | undefined>;
  /**
   * Returns whom the host knows the authors of these pull requests as, by number; those that it does not report are
   * missing. Absent where the list of pull requests reports them.
   */
  authorsOf?(pullRequests: readonly number[]): Promise<ReadonlyMap<number, AuthorFacts>>;
  /** Returns one pull request, open or closed. */
  pullRequest(number: number): Promise<PullRequest>;
  /** Sets a commit status. Returns false if the host has no statuses. */
  setStatus(commit: string, status: CommitStatus): Promise<boolean>;
  /** Creates or updates the comment; returns its ID, or undefined if the host has no comments. */
  comment(location: CommentLocation, body: string): Promise<string | undefined>;
  /**
   * Reads a comment of a pull request, and whether its author can write. Returns undefined if there is none, or the host
   * does not report who can write.
   */
  writtenComment(pullRequest: number, id: string): Promise<WrittenComment | undefined>;
  /** Creates the webhook, or updates the one with this URL; returns its ID, or undefined if none can be created. */
  ensureWebhook(webhook: Webhook): Promise<string | undefined>;
  removeWebhook(id: string): Promise<void>;
}
