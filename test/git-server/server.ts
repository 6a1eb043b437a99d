/**
 * A Git server for the sample and the tests: smart HTTP with push, by Git's own http-backend, and Git LFS.
 *
 *   git push http://HOST/NAME.git        creates the repository if it does not exist
 *   PUT /admin/repositories/NAME         creates one: private with a JSON body {"username", "password"},
 *                                        public with an empty body
 *   DELETE /admin/repositories/NAME      deletes it
 *   GET /healthz
 *
 * The server requires no login: everybody who reaches it can create repositories.
 */
import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { KEEP_ALIVE_MS, serveByHttpBackend } from './http-backend.ts';
import { serveLargeFiles } from './large-files.ts';
import { administeredRepository, Repositories, repositoryOf } from './repositories.ts';

const repositories = new Repositories(process.env.REPOSITORIES ?? '/repositories');

function answer(response: ServerResponse, status: number, text: string, headers: Record<string, string> = {}): void {
  response.writeHead(status, { 'content-type': 'text/plain', ...headers }).end(`${text}\n`);
}

async function administer(request: IncomingMessage, response: ServerResponse, name: string): Promise<void> {
  if (request.method === 'DELETE') {
    await repositories.delete(name);
    return answer(response, 200, 'removed');
  }
  if (request.method !== 'PUT') return answer(response, 405, 'PUT or DELETE');
  let body = '';
  for await (const chunk of request) body += String(chunk);
  const credentials = body ? parseCredentials(body) : undefined;
  if (body && credentials === undefined)
    return answer(response, 422, 'the body is {"username": …, "password": …}, or empty');
  await repositories.create(name);
  await repositories.protect(name, credentials);
  answer(response, 200, `${name}.git`);
}

/** Parses `username:password`; undefined if one of them is missing. */
function parseCredentials(text: string): string | undefined {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value !== 'object' || value === null || !('username' in value) || !('password' in value))
      return undefined;
    if (typeof value.username !== 'string' || typeof value.password !== 'string') return undefined;
    return `${value.username}:${value.password}`;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const url = new URL(request.url ?? '/', 'http://git');
  if (url.pathname === '/healthz') return answer(response, 200, 'ok');
  const administered = administeredRepository(url.pathname);
  if (administered !== undefined) return administer(request, response, administered);
  const name = repositoryOf(url.pathname);
  if (name === undefined) return answer(response, 404, 'no such repository');
  if (!repositories.exists(name)) {
    if (url.searchParams.get('service') !== 'git-receive-pack') return answer(response, 404, 'no such repository');
    await repositories.create(name);
  }
  const credentials = await repositories.credentialsOf(name);
  if (credentials !== undefined) {
    const wanted = `Basic ${Buffer.from(credentials).toString('base64')}`;
    if (request.headers.authorization !== wanted) {
      return answer(response, 401, 'user name and password, please', { 'www-authenticate': 'Basic realm="git"' });
    }
  }
  if (await serveLargeFiles(request, response, repositories.folder(name), url)) return;
  serveByHttpBackend(request, response, repositories.root, url);
}

const server = createServer({ keepAliveTimeout: KEEP_ALIVE_MS }, (request, response) => {
  handle(request, response).catch((error: unknown) => {
    console.error(`${request.method ?? ''} ${request.url ?? ''}:`, error);
    if (!response.headersSent) answer(response, 500, 'failed, see the log of the server');
  });
});
server.listen(3000);
process.on('SIGTERM', () => {
  server.close();
  server.closeAllConnections();
});
