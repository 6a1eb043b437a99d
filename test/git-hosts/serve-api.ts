import { createHash } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { ApiError } from './api.ts';
import type { ApiCall, Reply, Route } from './api.ts';
import type { Emulator } from './emulator.ts';
import { fail, send } from './faults.ts';
import { hasCommit } from './git.ts';
import type { Grant, HostedRepository } from './repositories.ts';
import { deliver } from './webhooks.ts';

/** Handles a call of the host's API. */
export async function serveApi(
  emulator: Emulator,
  request: IncomingMessage,
  response: ServerResponse,
  url: URL,
): Promise<void> {
  const { kind, repositories, faults } = emulator;
  const method = request.method ?? 'GET';
  const found = findRoute(kind.routes, method, url.pathname);
  if (!found) return send(response, kind.refuse(404, 'Not Found'));
  const { route, params } = found;
  const body = await readJson(request);
  const token = kind.tokenOf(request.headers);
  const repository = kind.repositoryOf(repositories, params, body, token);

  const moved = repository || !kind.moved ? undefined : repositories.movedFrom(kind.moved.pathIn(params));
  if (moved && kind.moved && isVisible(moved, token)) return send(response, kind.moved.answer(method, url, moved));

  const fault = repository && faults.find(repository.path, method, url);
  if (fault && (await fail(fault, response, (status, message) => kind.refuse(status, message)))) return;

  const answer = async (): Promise<Reply> => {
    if (token === undefined && kind.challenge && (!repository || repository.isPrivate)) return kind.challenge;
    const allowed = allow(emulator, repository, route.needs, token);
    const call: ApiCall = {
      ...{ base: url.origin, url, headers: request.headers, params, body, repositories, ...allowed },
      pagesLoop: fault?.answer === 'page loop',
      hasCommit: (commit) => hasCommit(emulator.folder(allowed.repository), commit),
    };
    return route.answer(call);
  };
  const hooks = repository?.hooks.length ?? 0;
  const reply = await answer().catch((error: unknown) => {
    if (error instanceof ApiError) return kind.refuse(error.status, error.message);
    throw error;
  });
  if (reply.status >= 400) {
    const known = { repository: repository !== undefined, token: token !== undefined };
    console.error(`${method} ${url.pathname}: ${reply.status}`, known);
  }
  const isUnchanged = kind.hasETags && method === 'GET' && reply.status === 200 && isKnown(request, reply);
  repository?.received.push({ method, path: url.pathname + url.search, status: isUnchanged ? 304 : reply.status });
  send(response, isUnchanged ? { status: 304, headers: reply.headers ?? {} } : reply, fault?.answer === 'half');
  if (repository && repository.hooks.length > hooks) {
    await deliver(kind, repository, { type: 'ping' }, url.origin, repository.hooks.slice(hooks));
  }
}

function isVisible({ isPrivate, tokens }: HostedRepository, token: string | undefined): boolean {
  return !isPrivate || (token !== undefined && tokens.has(token));
}

function findRoute(
  routes: readonly Route[],
  method: string,
  pathname: string,
): { route: Route; params: Record<string, string> } | undefined {
  for (const route of routes) {
    const match = route.method === method ? route.pattern.exec(pathname) : null;
    if (!match) continue;
    const groups = Object.entries(match.groups ?? {}).map(([name, value]) => [name, decodeURIComponent(value)]);
    return { route, params: Object.fromEntries(groups) as Record<string, string> };
  }
  return undefined;
}

/** Throws 401, 403 or 404 if the token does not permit the call. */
function allow(
  { repositories }: Emulator,
  repository: HostedRepository | undefined,
  needs: Grant | undefined,
  token: string | undefined,
): { repository: HostedRepository; grants: ReadonlySet<Grant> | undefined } {
  if (token !== undefined && !repositories.isToken(token)) throw new ApiError(401, 'Bad credentials');
  const grants = token === undefined ? undefined : repository?.tokens.get(token);
  if (!repository || (repository.isPrivate && !grants)) throw new ApiError(404, 'Not Found');
  if (needs !== undefined && !grants) throw new ApiError(token === undefined ? 401 : 403, 'Requires authentication');
  if (needs !== undefined && !grants?.has(needs)) throw new ApiError(403, 'Resource not accessible by this token');
  return { repository, grants };
}

async function readJson(request: IncomingMessage): Promise<Record<string, unknown>> {
  let text = '';
  for await (const chunk of request) text += String(chunk);
  try {
    const value: unknown = text === '' ? {} : JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
  } catch (error) {
    if (error instanceof SyntaxError) return {};
    throw error;
  }
}

/** Adds an ETag to the response; returns whether the caller has it already. */
function isKnown(request: IncomingMessage, reply: Reply): boolean {
  const hash = createHash('sha256')
    .update(JSON.stringify([reply.json, reply.headers?.['link']]))
    .digest('hex');
  const etag = `W/"${hash}"`;
  reply.headers = { ...reply.headers, etag };
  return request.headers['if-none-match'] === etag;
}
