import type { IncomingHttpHeaders } from 'node:http';
import type { Reply, Route } from './api.ts';
import type { Comment, Hook, HostedRepositories, HostedRepository, PullRequest } from './repositories.ts';

export const KINDS = ['ownerhost', 'groupedhost', 'cloudorg', 'workspacehost'] as const;
export type KindName = (typeof KINDS)[number];

export const NO_COMMIT = '0'.repeat(40);

export interface RefChange {
  /** Full name of the ref. */
  ref: string;
  /** NO_COMMIT for a new ref. */
  before: string;
  /** NO_COMMIT for a deleted ref. */
  after: string;
}

/** An event that a host reports by webhooks. */
export type HostEvent =
  | { type: 'ping' }
  | { type: 'push'; change: RefChange }
  | { type: 'commented'; pull: PullRequest; comment: Comment }
  | { type: 'opened' | 'updated' | 'retargeted' | 'labelled' | 'drafted' | 'closed'; pull: PullRequest };

/** One webhook call of the host. */
export interface Call {
  event: string;
  body: string;
  headers: Record<string, string>;
}

/** What distinguishes the types of host. */
export interface Kind {
  /** Returns the repository of a URL that git requests, and the rest of the path; undefined for other URLs. */
  gitPath(pathname: string): { path: string; rest: string } | undefined;
  routes: readonly Route[];
  /** Returns the repository that a call, also one for its hooks, concerns; undefined if there is none. */
  repositoryOf(
    repositories: HostedRepositories,
    params: Record<string, string>,
    body: Record<string, unknown>,
    token: string | undefined,
  ): HostedRepository | undefined;
  /** Returns the response to calls that concern no repository. */
  discover?(method: string, pathname: string): Reply | undefined;
  tokenOf(headers: IncomingHttpHeaders): string | undefined;
  /** Returns whether a token is accepted as the password of this user. */
  takesGitUser(username: string): boolean;
  /** Response to callers without authentication; defaults to an error 401. */
  challenge?: Reply;
  /** Returns the former path in a call, and the new URL, if the host redirects calls to repositories that were moved. */
  moved?: {
    pathIn(params: Record<string, string>): string;
    answer(method: string, url: URL, repository: HostedRepository): Reply;
  };
  /** Whether git is redirected to a repository that was renamed or transferred. */
  redirectsGit?: boolean;
  /** Returns an error in the host's own format. */
  refuse(status: number, message: string): Reply;
  /** Returns the refs that the host keeps for a pull request: its head, its merge. */
  pullRefs(number: number): { head?: string; merge?: string };
  /** Returns the webhook call; undefined if the hook does not include the event. */
  call(event: HostEvent, hook: Hook, repository: HostedRepository, base: string): Call | undefined;
  hasETags: boolean;
}

/** Returns the user and password of a Basic authorization. */
export function basicCredentials(headers: IncomingHttpHeaders): { username: string; password: string } | undefined {
  const [, encoded] = /^Basic (.+)$/i.exec(headers.authorization ?? '') ?? [];
  if (encoded === undefined) return undefined;
  const text = Buffer.from(encoded, 'base64').toString('utf8');
  const colon = text.indexOf(':');
  return { username: text.slice(0, colon), password: text.slice(colon + 1) };
}

export function bearerToken(headers: IncomingHttpHeaders): string | undefined {
  return /^(?:Bearer|token) (.+)$/i.exec(headers.authorization ?? '')?.[1];
}

/** Splits /A/B.git/info/refs, for any number of path segments. */
export function plainGitPath(pathname: string): { path: string; rest: string } | undefined {
  const [, path, rest] = /^\/(.+?)(?:\.git)?\/(info\/refs|git-upload-pack|git-receive-pack)$/.exec(pathname) ?? [];
  return path === undefined || rest === undefined ? undefined : { path: decodeURIComponent(path), rest };
}

/** Returns the last part of a ref's full name or of a repository's path. */
export const shortName = (ref: string): string => ref.replace(/^refs\/(heads|tags)\//, '');
export const lastPart = (path: string): string => path.slice(path.lastIndexOf('/') + 1);
export const firstParts = (path: string): string => path.slice(0, path.lastIndexOf('/'));
