import { join } from 'node:path';
import { Repositories } from '../git-server/repositories.ts';
import { ApiError, byId } from './api.ts';
import { Faults } from './faults.ts';
import { copyRef, deleteRef, mergeRef, refsOf } from './git.ts';
import { NO_COMMIT } from './kind.ts';
import type { HostEvent, Kind, KindName, RefChange } from './kind.ts';
import { addComment, addHook } from './received.ts';
import { HostedRepositories } from './repositories.ts';
import type { HostedRepository, NewRepository, PullRequest } from './repositories.ts';
import { deliver } from './webhooks.ts';

export interface NewPullRequest {
  /** The fork of the source branch; absent for the repository itself. */
  from?: string;
  branch: string;
  target?: string;
  title?: string;
  labels?: string[];
  isDraft?: boolean;
}

export interface NewComment {
  body: string;
  author: string;
}

/** What is changed about a pull request. */
export type PullRequestChange = Partial<Pick<PullRequest, 'target' | 'labels' | 'isDraft'>>;

/** Returns the current time as all hosts do, in whole seconds. */
const now = (): string => `${new Date().toISOString().slice(0, 19)}Z`;

/** Events of a webhook for pushes and pull requests; Azure DevOps has one subscription for each event. */
const usualEvents: Record<KindName, readonly (readonly string[])[]> = {
  ownerhost: [['push', 'pull_request', 'issue_comment']],
  groupedhost: [['push_events', 'tag_push_events', 'merge_requests_events', 'note_events']],
  workspacehost: [['repo:push', 'pullrequest:created', 'pullrequest:updated', 'pullrequest:rejected']],
  cloudorg: [['git.push'], ['git.pullrequest.created'], ['git.pullrequest.updated']],
};

/** One Git host: real bare repositories, and the host's other data. */
export class Emulator {
  readonly kind: Kind;
  readonly #name: KindName;
  readonly repositories = new HostedRepositories();
  readonly faults = new Faults();
  /** The bare repositories, named by their IDs. */
  readonly bare: Repositories;

  constructor(name: KindName, kind: Kind, root: string) {
    this.kind = kind;
    this.#name = name;
    this.bare = new Repositories(join(root, name));
  }

  folder({ id }: HostedRepository): string {
    return this.bare.folder(String(id));
  }

  /** Returns the repository at this path; throws 404. */
  get(path: string): HostedRepository {
    const found = this.repositories.find(path);
    if (!found) throw new ApiError(404, `${path} is not here`);
    return found;
  }

  async put(wanted: NewRepository): Promise<HostedRepository> {
    const isNew = this.repositories.find(wanted.path) === undefined;
    const repository = this.repositories.put(wanted);
    await this.bare.create(String(repository.id));
    if (isNew && repository.forkOf) {
      await copyRef(this.folder(repository.forkOf), 'refs/heads/*', this.folder(repository), 'refs/heads/*');
    }
    return repository;
  }

  async remove(path: string): Promise<void> {
    const repository = this.repositories.find(path);
    if (!repository) return;
    this.repositories.remove(path);
    await this.bare.delete(String(repository.id));
  }

  async openPull(path: string, wanted: NewPullRequest, base: string): Promise<PullRequest> {
    const repository = this.get(path);
    const from = wanted.from === undefined ? repository : this.get(wanted.from);
    const target = wanted.target ?? repository.defaultBranch;
    const commitOf = async (one: HostedRepository, branch: string) => {
      const commit = (await refsOf(this.folder(one))).get(`refs/heads/${branch}`);
      if (commit === undefined) throw new ApiError(422, `there is no branch ${branch} in ${one.path}`);
      return commit;
    };
    const pull: PullRequest = {
      number: repository.pullRequests.length + 1,
      title: wanted.title ?? `Merge ${wanted.branch}`,
      state: 'open',
      from,
      branch: wanted.branch,
      target,
      labels: wanted.labels ?? [],
      isDraft: wanted.isDraft ?? false,
      commit: await commitOf(from, wanted.branch),
      targetCommit: await commitOf(repository, target),
      createdAt: now(),
      updatedAt: now(),
    };
    repository.pullRequests.push(pull);
    await this.#keepRefs(repository, pull);
    this.#report(repository, { type: 'opened', pull }, base);
    return pull;
  }

  /** Renames or transfers a repository; another one may then take its path. */
  move(path: string, to: string): void {
    if (this.repositories.find(to)) throw new ApiError(409, `${to} is taken`);
    this.repositories.move(this.get(path), to);
  }

  /** Changes the branch that a pull request is to be merged into; no host lets it change the repository. */
  async retarget(path: string, number: number, target: string, base: string): Promise<void> {
    const repository = this.get(path);
    const pull = pullOf(repository, number);
    const commit = (await refsOf(this.folder(repository))).get(`refs/heads/${target}`);
    if (commit === undefined) throw new ApiError(422, `there is no branch ${target} in ${path}`);
    Object.assign(pull, { target, targetCommit: commit, updatedAt: now() });
    await this.#keepRefs(repository, pull);
    this.#report(repository, { type: 'retargeted', pull }, base);
  }

  async change(path: string, number: number, { target, ...facts }: PullRequestChange, base: string): Promise<void> {
    if (target !== undefined) await this.retarget(path, number, target, base);
    const repository = this.get(path);
    const pull = pullOf(repository, number);
    Object.assign(pull, facts, { updatedAt: now() });
    if (facts.labels) this.#report(repository, { type: 'labelled', pull }, base);
    if (facts.isDraft !== undefined) this.#report(repository, { type: 'drafted', pull }, base);
  }

  /** Adds a comment of a person on a pull request; returns its ID. */
  comment(path: string, number: number, { body, author }: NewComment, base: string): number {
    const repository = this.get(path);
    const pull = pullOf(repository, number);
    const comment = addComment({ repository, repositories: this.repositories }, number, body, author);
    this.#report(repository, { type: 'commented', pull, comment }, base);
    return comment.id;
  }

  /** Changes a comment, which hosts report as another event. */
  changeComment(path: string, id: number, body: string): void {
    Object.assign(byId(this.get(path).comments, `${id}`), { body, updatedAt: now() });
  }

  /** Closes a pull request: hosts keep its head, but not its merge ref. */
  async closePull(path: string, number: number, base: string): Promise<void> {
    const repository = this.get(path);
    const pull = pullOf(repository, number);
    pull.state = 'closed';
    pull.updatedAt = now();
    const { merge } = this.kind.pullRefs(number);
    if (merge !== undefined) await deleteRef(this.folder(repository), merge);
    this.#report(repository, { type: 'closed', pull }, base);
  }

  /** Adds a webhook for pushes and pull requests, as a user does on the host's web page. */
  addHooks(path: string, url: string, secret: string): void {
    const repository = this.get(path);
    for (const events of usualEvents[this.#name]) {
      addHook({ repository, repositories: this.repositories }, { url, secret, events: [...events], inputs: { url } });
    }
  }

  /** Called after a push: updates pull requests, and calls webhooks. */
  async pushed(repository: HostedRepository, before: ReadonlyMap<string, string>, base: string): Promise<void> {
    const after = await refsOf(this.folder(repository));
    const changes = changesBetween(before, after);
    for (const change of changes) this.#report(repository, { type: 'push', change }, base);
    const changed = new Map(changes.map(({ ref, after: commit }) => [ref, commit]));
    for (const target of this.repositories.all) {
      for (const pull of target.pullRequests.filter(({ state }) => state === 'open')) {
        const commit = pull.from === repository ? changed.get(`refs/heads/${pull.branch}`) : undefined;
        const targetCommit = target === repository ? changed.get(`refs/heads/${pull.target}`) : undefined;
        if (commit !== undefined && commit !== NO_COMMIT) pull.commit = commit;
        if (targetCommit !== undefined && targetCommit !== NO_COMMIT) pull.targetCommit = targetCommit;
        if (commit === undefined && targetCommit === undefined) continue;
        pull.updatedAt = now();
        await this.#keepRefs(target, pull);
        if (commit !== undefined) this.#report(target, { type: 'updated', pull }, base);
      }
    }
  }

  /** Updates the refs that the host keeps for a pull request to its newest commit. */
  async #keepRefs(repository: HostedRepository, pull: PullRequest): Promise<void> {
    const { head, merge } = this.kind.pullRefs(pull.number);
    const branch = `refs/heads/${pull.branch}`;
    const folder = this.folder(repository);
    if (head !== undefined) await copyRef(this.folder(pull.from), branch, folder, head);
    if (merge !== undefined) {
      await copyRef(this.folder(pull.from), branch, folder, merge);
      await mergeRef(folder, merge, pull.targetCommit, pull.commit);
    }
  }

  #report(repository: HostedRepository, event: HostEvent, base: string): void {
    deliver(this.kind, repository, event, base).catch((error: unknown) => {
      console.error(`webhooks of ${repository.path}:`, error);
    });
  }
}

function pullOf({ pullRequests }: HostedRepository, number: number): PullRequest {
  const pull = pullRequests.find((one) => one.number === number);
  if (!pull) throw new ApiError(404, `there is no pull request ${number}`);
  return pull;
}

function changesBetween(before: ReadonlyMap<string, string>, after: ReadonlyMap<string, string>): RefChange[] {
  return [...new Set([...before.keys(), ...after.keys()])]
    .map((ref) => ({ ref, before: before.get(ref) ?? NO_COMMIT, after: after.get(ref) ?? NO_COMMIT }))
    .filter((change) => change.before !== change.after);
}
