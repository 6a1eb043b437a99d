import type { IncomingHttpHeaders } from 'node:http';
import type { Reply, Route } from './api.ts';
import type { Hook, HostedRepositories, HostedRepository, PullRequest } from './repositories.ts';

export const KINDS = ['ownerhost', 'groupedhost', 'cloudorg', 'workspacehost'] as const;
export type KindName = (typeof KINDS)[number];

export const NO_COMMIT = '0'.repeat(40);

export interface RefChange {
  /** Full name. */
  ref: string;
  /** NO_COMMIT when it was made. */
  before: string;
  /** NO_COMMIT when it was deleted. */
  after: string;
}

/** What a host reports those who asked for it by a webhook. */
export type HostEvent =
  { type: 'ping' } | { type: 'push'; change: RefChange } | { type: 'opened' | 'updated' | 'closed'; pull: PullRequest };

/** One webhook call as the host would make it. */
export interface Call {
  event: string;
  body: string;
  headers: Record<string, string>;
}

/** What distinguishes the kinds of host. */
export interface Kind {
  /** The repository of a URL that git asks for, and what comes after its name; undefined for any other URL. */
  gitPath(pathname: string): { path: string; rest: string } | undefined;
  routes: readonly Route[];
  /** The repository that a call is about, or about whose hooks; undefined when there is none. */
  repositoryOf(
    repositories: HostedRepositories,
    params: Record<string, string>,
    body: Record<string, unknown>,
    token: string | undefined,
  ): HostedRepository | undefined;
  /** What is answered about no repository at all. */
  discover?(method: string, pathname: string): Reply | undefined;
  tokenOf(headers: IncomingHttpHeaders): string | undefined;
  /** Whether a token counts as the password of this user. */
  takesGitUser(username: string): boolean;
  /** What those are answered who say nothing of themselves; an error of 401 otherwise. */
  challenge?: Reply;
  /** An error in the host's own form. */
  refuse(status: number, message: string): Reply;
  /** What the host keeps of a pull request beside the branch: its head, its merge. */
  pullRefs(number: number): { head?: string; merge?: string };
  /** Undefined when the hook did not ask for the event. */
  call(event: HostEvent, hook: Hook, repository: HostedRepository, base: string): Call | undefined;
  hasETags: boolean;
}

/** The user and password of a Basic authorization. */
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

/** Splits /A/B.git/info/refs, whatever the number of parts that the host's names have. */
export function plainGitPath(pathname: string): { path: string; rest: string } | undefined {
  const [, path, rest] = /^\/(.+?)(?:\.git)?\/(info\/refs|git-upload-pack|git-receive-pack)$/.exec(pathname) ?? [];
  return path === undefined || rest === undefined ? undefined : { path: decodeURIComponent(path), rest };
}

/** The last part of a full name of a ref or of a repository's path. */
export const shortName = (ref: string): string => ref.replace(/^refs\/(heads|tags)\//, '');
export const lastPart = (path: string): string => path.slice(path.lastIndexOf('/') + 1);
export const firstParts = (path: string): string => path.slice(0, path.lastIndexOf('/'));
