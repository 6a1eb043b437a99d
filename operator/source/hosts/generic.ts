import type { Source, SourceAccess } from '../git/source.ts';
import type { Capabilities, GitHost, PullRequest } from './host.ts';

/** Any Git server that offers only Git's own protocol. */
export class GenericHost implements GitHost {
  readonly access: SourceAccess;
  readonly #source: Source;

  constructor(source: Source, access: SourceAccess) {
    this.#source = source;
    this.access = access;
  }

  get webUrl(): string {
    return this.access.origin;
  }

  async check(): Promise<Capabilities> {
    await this.#source.check(this.access);
    return { statuses: false, hooks: false };
  }

  /** Git has no repository IDs. */
  repositoryId(): Promise<undefined> {
    return Promise.resolve(undefined);
  }

  openPullRequests(): Promise<undefined> {
    return Promise.resolve(undefined);
  }

  /**
   * Returns a pull request's ref, as GitHub, Gitea and Forgejo name it. Git does not report whether it comes from a
   * fork.
   */
  pullRequest(number: number): Promise<PullRequest> {
    const location = { access: this.access, refName: `refs/pull/${number}/head` };
    return Promise.resolve({ number, commit: undefined, isFork: undefined, location });
  }

  setStatus(): Promise<boolean> {
    return Promise.resolve(false);
  }

  comment(): Promise<undefined> {
    return Promise.resolve(undefined);
  }

  /** Git has no comments. */
  writtenComment(): Promise<undefined> {
    return Promise.resolve(undefined);
  }

  ensureWebhook(): Promise<undefined> {
    return Promise.resolve(undefined);
  }

  removeWebhook(): Promise<void> {
    return Promise.resolve();
  }
}
