import { createServer } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { KEEP_ALIVE_MS } from '../git-server/http-backend.ts';
import { administer } from './admin.ts';
import { cloudorg } from './cloudorg.ts';
import { Emulator } from './emulator.ts';
import { send } from './faults.ts';
import { groupedhost } from './groupedhost.ts';
import type { Kind, KindName } from './kind.ts';
import { ownerhost } from './ownerhost.ts';
import { serveApi } from './serve-api.ts';
import { serveGit } from './serve-git.ts';
import { workspacehost } from './workspacehost.ts';

const kinds: Record<KindName, Kind> = { ownerhost, groupedhost, cloudorg, workspacehost };

export const createEmulator = (name: KindName, root: string): Emulator => new Emulator(name, kinds[name], root);

async function handle(
  emulator: Emulator | undefined,
  request: IncomingMessage,
  response: ServerResponse,
  url: URL,
): Promise<void> {
  if (url.pathname === '/healthz') return send(response, { status: 200, text: 'ok' });
  if (!emulator) return send(response, { status: 404, text: 'no such host' });
  if (url.pathname.startsWith('/admin/')) return send(response, await administer(emulator, request, url));
  const git = emulator.kind.gitPath(url.pathname);
  if (git) return serveGit(emulator, request, response, { url, ...git });
  const found = emulator.kind.discover?.(request.method ?? 'GET', url.pathname);
  if (found) return send(response, found);
  await serveApi(emulator, request, response, url);
}

/** Creates a server of Git hosts, selected by the request's host name. */
export function createHostServer(emulatorOf: (hostname: string) => Emulator | undefined): Server {
  return createServer({ keepAliveTimeout: KEEP_ALIVE_MS }, (request, response) => {
    const url = new URL(request.url ?? '/', `http://${request.headers.host ?? 'localhost'}`);
    handle(emulatorOf(url.hostname), request, response, url).catch((error: unknown) => {
      console.error(`${request.method ?? ''} ${url.pathname}:`, error);
      if (!response.headersSent) send(response, { status: 500, text: 'failed, see the log of the server' });
    });
  });
}
