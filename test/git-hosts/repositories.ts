import { randomUUID } from 'node:crypto';

/** What a token may do beside reading. */
export const GRANTS = ['push', 'statuses', 'comments', 'hooks'] as const;
export type Grant = (typeof GRANTS)[number];

export interface PullRequest {
  number: number;
  title: string;
  state: 'open' | 'closed';
  /** The repository of the source branch; another one when it comes from a fork. */
  from: HostedRepository;
  branch: string;
  target: string;
  /** The newest commit of the source branch. */
  commit: string;
  targetCommit: string;
  createdAt: string;
  updatedAt: string;
}

/** A commit status as the host keeps it. */
export interface Status {
  id: number;
  commit: string;
  /** In the host's own words. */
  state: string;
  context: string;
  /** What distinguishes it from the commit's others, where that is not the context. */
  key?: string;
  description: string;
  targetUrl: string;
  createdAt: string;
}

export interface Comment {
  id: number;
  pullRequest: number;
  body: string;
  createdAt: string;
  updatedAt: string;
}

export interface Hook {
  id: number;
  uuid: string;
  url: string;
  /** Signs or authenticates deliveries, as the kind does. */
  secret: string | undefined;
  /** In the host's own words. */
  events: string[];
  /** Azure DevOps: what the subscription was made with. */
  inputs: Record<string, string>;
  createdAt: string;
}

/** One webhook call that was made. */
export interface Delivery {
  url: string;
  event: string;
  /** The answer; undefined when none came. */
  status: number | undefined;
  milliseconds: number;
}

/** One call that was received, without its headers. */
export interface Received {
  method: string;
  /** With the query. */
  path: string;
  status: number;
}

export interface HostedRepository {
  id: number;
  uuid: string;
  /** As the host's web address has it: owner/repo, group/project, org/project/repo, workspace/repository. */
  path: string;
  isPrivate: boolean;
  forkOf: HostedRepository | undefined;
  defaultBranch: string;
  createdAt: string;
  tokens: Map<string, ReadonlySet<Grant>>;
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
}

/** What one host knows beside the commits; forgotten when the process ends. */
export class HostedRepositories {
  readonly #repositories = new Map<string, HostedRepository>();
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

  /** Adds the repository; of one that is there already, privacy and tokens change. */
  put({ path, isPrivate, forkOf, tokens }: NewRepository): HostedRepository {
    const grants = new Map(Object.entries(tokens).map(([token, granted]) => [token, new Set(granted)] as const));
    const there = this.#repositories.get(path);
    if (there) return Object.assign(there, { isPrivate, tokens: grants });
    const repository: HostedRepository = {
      id: this.nextId(),
      uuid: randomUUID(),
      path,
      isPrivate,
      forkOf: forkOf === undefined ? undefined : this.find(forkOf),
      defaultBranch: 'main',
      createdAt: new Date().toISOString(),
      tokens: grants,
      pullRequests: [],
      statuses: [],
      comments: [],
      hooks: [],
      deliveries: [],
      received: [],
    };
    this.#repositories.set(path, repository);
    return repository;
  }

  remove(path: string): void {
    this.#repositories.delete(path);
  }

  /** Whether this token was given out for any repository of the host. */
  isToken(token: string): boolean {
    return this.all.some(({ tokens }) => tokens.has(token));
  }
}
