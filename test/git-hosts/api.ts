import type { IncomingHttpHeaders } from 'node:http';
import type { Grant, HostedRepository, HostedRepositories } from './repositories.ts';

export interface Reply {
  status: number;
  headers?: Record<string, string>;
  /** Sent as JSON; otherwise `text` is sent. */
  json?: unknown;
  text?: string;
}

export interface ApiCall {
  /** Scheme and host that the caller used. */
  base: string;
  url: URL;
  headers: IncomingHttpHeaders;
  params: Record<string, string>;
  body: Record<string, unknown>;
  repositories: HostedRepositories;
  repository: HostedRepository;
  /** Permissions of the caller's token; undefined without a token. */
  grants: ReadonlySet<Grant> | undefined;
  /** Whether every page links to itself as the next one. */
  pagesLoop: boolean;
  hasCommit: (commit: string) => Promise<boolean>;
}

export interface Route {
  method: string;
  /** Each named group is a percent-decoded parameter. */
  pattern: RegExp;
  needs?: Grant;
  answer: (call: ApiCall) => Reply | Promise<Reply>;
}

/** An error with an HTTP status, which each type of host formats in its own way. */
export class ApiError extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

/** Returns the text of a field of a JSON body. */
export function textOf(body: Record<string, unknown>, name: string): string {
  const value = body[name];
  if (typeof value !== 'string') throw new ApiError(422, `${name} is missing`);
  return value;
}

export function optionalText(body: Record<string, unknown>, name: string): string | undefined {
  return typeof body[name] === 'string' ? body[name] : undefined;
}

export function objectOf(body: Record<string, unknown>, name: string): Record<string, unknown> {
  const value = body[name];
  if (typeof value !== 'object' || value === null) throw new ApiError(422, `${name} is missing`);
  return value as Record<string, unknown>;
}

export function listOf(body: Record<string, unknown>, name: string): string[] {
  const value = body[name];
  return Array.isArray(value) ? value.map(String) : [];
}

/** Returns the item with this ID; throws 404 otherwise. */
export function byId<T extends { id: number }>(items: readonly T[], id: string | undefined): T {
  const found = items.find((item) => item.id === Number(id));
  if (!found) throw new ApiError(404, 'Not Found');
  return found;
}

export function pullRequestOf({ repository, params }: ApiCall) {
  const found = repository.pullRequests.find(({ number }) => number === Number(params['number']));
  if (!found) throw new ApiError(404, 'Not Found');
  return found;
}

export interface Page<T> {
  items: T[];
  number: number;
  size: number;
  total: number;
  /** The next page, if there is one. */
  next: string | undefined;
}

/** Returns one page of a list, selected by `page` and `sizeName`, counted from 1. */
export function pageOf<T>(call: ApiCall, all: readonly T[], sizeName: string, usual: number, max: number): Page<T> {
  const query = call.url.searchParams;
  const size = Math.min(Math.max(Number(query.get(sizeName) ?? usual), 1), max);
  const number = Math.max(Number(query.get('page') ?? 1), 1);
  const items = all.slice((number - 1) * size, number * size);
  const hasMore = number * size < all.length;
  const next = new URL(call.url);
  if (!call.pagesLoop) next.searchParams.set('page', String(number + 1));
  return { items, number, size, total: all.length, next: hasMore || call.pagesLoop ? next.href : undefined };
}

/** Returns a page as GitHub and GitLab do: by `per_page`, with the next page in a Link header (RFC 8288). */
export function linkedPage<T>(call: ApiCall, all: readonly T[], usual: number, form: (item: T) => unknown): Reply {
  const { items, next } = pageOf(call, all, 'per_page', usual, 100);
  const headers: Record<string, string> = next === undefined ? {} : { link: `<${next}>; rel="next"` };
  return { status: 200, headers, json: items.map(form) };
}
