import type { IncomingMessage, ServerResponse } from 'node:http';
import { serveByHttpBackend } from '../git-server/http-backend.ts';
import type { Reply } from './api.ts';
import type { Emulator } from './emulator.ts';
import { fail, send } from './faults.ts';
import { refsOf } from './git.ts';
import { basicCredentials } from './kind.ts';
import type { HostedRepository } from './repositories.ts';

export interface GitCall {
  url: URL;
  path: string;
  rest: string;
}

/** Serves git over HTTP to permitted callers. */
export async function serveGit(
  emulator: Emulator,
  request: IncomingMessage,
  response: ServerResponse,
  { url, path, rest }: GitCall,
): Promise<void> {
  const method = request.method ?? 'GET';
  const fault = emulator.faults.find(path, method, url);
  if (fault && (await fail(fault, response, (status, text) => ({ status, text })))) return;
  if (fault?.answer === 'half') return send(response, { status: 200, text: '001e# service=git-upload-pack\n' }, true);

  const moved = emulator.kind.redirectsGit ? emulator.repositories.movedFrom(path) : undefined;
  const repository = emulator.repositories.find(path) ?? moved;
  const isPush = rest === 'git-receive-pack' || url.searchParams.get('service') === 'git-receive-pack';
  const credentials = basicCredentials(request.headers);
  const refusal = refuse(emulator, repository, isPush, credentials);
  if (refusal) {
    repository?.received.push({ method, path: url.pathname + url.search, status: refusal.status });
    return send(response, refusal);
  }
  if (!repository) return send(response, { status: 404, text: 'not found' });
  if (repository.path !== path) {
    const location = `${url.origin}/${repository.path}.git/${rest}${url.search}`;
    return send(response, { status: 301, headers: { location }, text: 'moved' });
  }
  repository.received.push({ method, path: url.pathname + url.search, status: 200 });
  const before = method === 'POST' && isPush ? await refsOf(emulator.folder(repository)) : undefined;
  if (before) {
    response.on('close', () => {
      emulator.pushed(repository, before, url.origin).catch((error: unknown) => {
        console.error(`after the push to ${path}:`, error);
      });
    });
  }
  const inside = new URL(`/${repository.id}.git/${rest}${url.search}`, url);
  serveByHttpBackend(request, response, emulator.bare.root, inside);
}

const signIn: Reply = { status: 401, text: 'sign in', headers: { 'www-authenticate': 'Basic realm="Git"' } };

/** Returns why git is refused; callers who must not learn that the repository exists get 404. */
function refuse(
  { kind, repositories }: Emulator,
  repository: HostedRepository | undefined,
  isPush: boolean,
  credentials: { username: string; password: string } | undefined,
): Reply | undefined {
  if (!credentials) return repository && !repository.isPrivate && !isPush ? undefined : signIn;
  if (!kind.takesGitUser(credentials.username) || !repositories.isToken(credentials.password)) return signIn;
  const grants = repository?.tokens.get(credentials.password);
  if (!repository || (repository.isPrivate && !grants)) return { status: 404, text: 'not found' };
  return isPush && !grants?.has('push') ? { status: 403, text: 'no push with this token' } : undefined;
}
