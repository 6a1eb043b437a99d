import { randomUUID } from 'node:crypto';

/** Permissions of a token in addition to reading. */
export const GRANTS = ['push', 'statuses', 'comments', 'hooks'] as const;
export type Grant = (typeof GRANTS)[number];

export interface PullRequest {
  number: number;
  title: string;
  state: 'open' | 'closed';
  /** Repository of the source branch; differs for a fork. */
  from: HostedRepository;
  branch: string;
  target: string;
  /** Bitbucket has none. */
  labels: string[];
  isDraft: boolean;
  /** The newest commit of the source branch. */
  commit: string;
  targetCommit: string;
  createdAt: string;
  updatedAt: string;
}

/** What a person can do in a repository; others can read a public one. */
export type Role = 'admin' | 'write' | 'read';

/** A commit status as stored by the host. */
export interface Status {
  id: number;
  commit: string;
  /** In the host's own terms. */
  state: string;
  context: string;
  /** Distinguishes the commit's statuses, if the context does not. */
  key?: string;
  description: string;
  targetUrl: string;
  createdAt: string;
}

export interface Comment {
  id: number;
  pullRequest: number;
  body: string;
  /** Name of the user; `token` for the user of a token. */
  author: string;
  createdAt: string;
  updatedAt: string;
}

export interface Hook {
  id: number;
  uuid: string;
  url: string;
  /** Signs or authenticates deliveries, depending on the type of host. */
  secret: string | undefined;
  /** In the host's own terms. */
  events: string[];
  /** For Azure DevOps: inputs of the subscription. */
  inputs: Record<string, string>;
  createdAt: string;
}

/** A webhook call that was sent. */
export interface Delivery {
  url: string;
  event: string;
  /** Status of the response; undefined without one. */
  status: number | undefined;
  milliseconds: number;
}

/** A received call, without its headers. */
export interface Received {
  method: string;
  /** Path including the query. */
  path: string;
  status: number;
}

export interface HostedRepository {
  id: number;
  uuid: string;
  /** Path in the host's web address: owner/repo, group/project, org/project/repo, workspace/repository. */
  path: string;
  isPrivate: boolean;
  forkOf: HostedRepository | undefined;
  defaultBranch: string;
  createdAt: string;
  tokens: Map<string, ReadonlySet<Grant>>;
  people: Map<string, Role>;
  pullRequests: PullRequest[];
  statuses: Status[];
  comments: Comment[];
  hooks: Hook[];
  deliveries: Delivery[];
  received: Received[];
}

export interface NewRepository {
  path: string;
  isPrivate: boolean;
  forkOf: string | undefined;
  tokens: Record<string, readonly Grant[]>;
  people?: Record<string, Role>;
}

/** A host's data except commits, held in memory. */
export class HostedRepositories {
  readonly #repositories = new Map<string, HostedRepository>();
  /** Repositories that were renamed or transferred, by each former path that no other one has taken since. */
  readonly #moved = new Map<string, HostedRepository>();
  #lastId = 1000;

  get all(): HostedRepository[] {
    return [...this.#repositories.values()];
  }

  nextId(): number {
    return ++this.#lastId;
  }

  find(path: string): HostedRepository | undefined {
    return this.#repositories.get(path);
  }

  /** Adds a repository; changes privacy and tokens of an existing one. */
  put({ path, isPrivate, forkOf, tokens, people: given = {} }: NewRepository): HostedRepository {
    const grants = new Map(Object.entries(tokens).map(([token, granted]) => [token, new Set(granted)] as const));
    const people = new Map(Object.entries(given));
    const there = this.#repositories.get(path);
    if (there) return Object.assign(there, { isPrivate, tokens: grants, people });
    const repository: HostedRepository = {
      id: this.nextId(),
      uuid: randomUUID(),
      path,
      isPrivate,
      forkOf: forkOf === undefined ? undefined : this.find(forkOf),
      defaultBranch: 'main',
      createdAt: new Date().toISOString(),
      tokens: grants,
      people,
      pullRequests: [],
      statuses: [],
      comments: [],
      hooks: [],
      deliveries: [],
      received: [],
    };
    this.#repositories.set(path, repository);
    this.#moved.delete(path);
    return repository;
  }

  /** Renames or transfers a repository, which keeps its ID, pull requests and webhooks. */
  move(repository: HostedRepository, path: string): void {
    this.#moved.set(repository.path, repository);
    this.#moved.delete(path);
    Object.assign(repository, { path });
    // In the same order as before.
    const { all } = this;
    this.#repositories.clear();
    for (const one of all) this.#repositories.set(one.path, one);
  }

  /** Returns the repository that had this path. */
  movedFrom(path: string): HostedRepository | undefined {
    return this.#moved.get(path);
  }

  remove(path: string): void {
    this.#repositories.delete(path);
  }

  /** Returns whether this token was issued for any repository of the host. */
  isToken(token: string): boolean {
    return this.all.some(({ tokens }) => tokens.has(token));
  }
}
