import type { RefLocation, SourceAccess } from '../git/source.ts';

/** Permissions of a repository's credentials; undefined if the host does not report them. */
export interface Capabilities {
  statuses: boolean | undefined;
  hooks: boolean | undefined;
}

/** An open pull request, or a merge request. */
export interface PullRequest {
  number: number;
  /** What it would merge, full length; undefined where the host reports a short one only: git then says. */
  commit: string | undefined;
  /**
   * Whether its commits come from another repository: others wrote them than those who can push here. Undefined where
   * the host does not report this.
   */
  isFork: boolean | undefined;
  location: RefLocation;
}

export interface CommitStatus {
  /** Which of a commit's statuses this is; one for each environment. */
  context: string;
  /** `error`: it could not be found out; a failure where the host has no such state. */
  state: 'pending' | 'success' | 'failure' | 'error';
  description: string;
  /** What the host links to. */
  targetUrl: string;
}

/** A pull request's comment as it was last written, by its id at the host. */
export interface CommentLocation {
  pullRequest: number;
  /**
   * The body's last line: by it the comment is found again where no id is known. A line elsewhere counts for nothing:
   * there is what programs have said.
   */
  marker: string;
  id?: string | undefined;
}

export interface Webhook {
  url: string;
  secret: string;
}

/**
 * One repository at its Git host. Every call throws SourceRefusedError where the user must act, HostBusyError when the
 * host asks to come back later, SourceUnreachableError for anything that may pass by itself. Lists are whole or throw:
 * a half answer never looks like a closed pull request.
 */
export interface GitHost {
  /** How git reads the repository itself. */
  readonly access: SourceAccess;
  /** For people, without credentials. */
  readonly webUrl: string;
  /** Asks whether the repository exists and what the credentials may do. */
  check(): Promise<Capabilities>;
  /** Of the repository at the host: another one under the same name has another. Undefined where the host has none. */
  repositoryId(): Promise<string | undefined>;
  /** All open ones; undefined where the host has no such list. */
  openPullRequests(): Promise<readonly PullRequest[] | undefined>;
  /** One, open or closed. */
  pullRequest(number: number): Promise<PullRequest>;
  /** False where the host has no statuses. */
  setStatus(commit: string, status: CommitStatus): Promise<boolean>;
  /** Writes the comment, or writes it anew; gives its id, or undefined where the host has no comments. */
  comment(location: CommentLocation, body: string): Promise<string | undefined>;
  /** Makes the webhook, or finds the one of this URL and brings it up to date; gives its id, or undefined where none can be made. */
  ensureWebhook(webhook: Webhook): Promise<string | undefined>;
  removeWebhook(id: string): Promise<void>;
}
