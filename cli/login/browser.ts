import { createHash, randomBytes } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Client } from '../api/client.ts';
import { CliError } from '../errors.ts';
import { note, type Io } from '../io.ts';
import { openBrowser } from '../terminal/open-browser.ts';

const maxMs = 5 * 60 * 1000;

/** The page that the browser shows at the end. It loads no other files. */
const page = (text: string) =>
  `<!doctype html><html lang="en"><meta charset="utf-8"><title>Coppice</title><p>${text}</p></html>`;

/**
 * Signs in through the browser of this computer: the panel approves, and redirects to a port of 127.0.0.1 with a code that only
 * this process can exchange (RFC 8252, RFC 7636).
 * @throws CliError
 */
export async function browserLogin(io: Io, url: string, open = openBrowser): Promise<string> {
  const verifier = randomBytes(32).toString('base64url');
  const state = randomBytes(24).toString('base64url');
  const challenge = createHash('sha256').update(verifier).digest('base64url');
  const { server, code } = await listen(state);
  try {
    const { port } = server.address() as AddressInfo;
    const query = new URLSearchParams({ port: String(port), challenge, state });
    const address = `${url}/sign-in/command-line?${query.toString()}`;
    note(
      io,
      `approve the sign-in in your browser. If it does not open, open this address on this computer:\n${address}`,
    );
    open(address);
    const body = { code: await code, verifier };
    return (await new Client({ url }).send<{ token: string }>('POST', '/api/user/authorizations/token', { body }))
      .token;
  } finally {
    server.close();
    server.closeAllConnections();
  }
}

/** Waits on a free port of 127.0.0.1 for the redirect. Requests of other programs have no effect. */
async function listen(state: string): Promise<{ server: Server; code: Promise<string> }> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const server = createServer((request, response) => {
    const [path, query] = (request.url ?? '').split('?');
    const parameters = new URLSearchParams(query);
    const code = parameters.get('code');
    // A page of another site can send requests to this port, but does not know the state.
    const isOurs = request.method === 'GET' && path === '/callback' && parameters.get('state') === state;
    response.setHeader('Content-Type', 'text/html; charset=utf-8');
    response.setHeader('Content-Security-Policy', "default-src 'none'");
    if (!isOurs || code === null) {
      response.writeHead(404).end(page('Nothing is here.'));
      return;
    }
    response.end(page('You are signed in. Return to the terminal, and close this page.'), () => resolve(code));
  });
  await new Promise<void>((listening, failed) => {
    server.once('error', failed);
    server.listen(0, '127.0.0.1', listening);
  });
  const timer = setTimeout(
    () => reject(new CliError('nobody approved the sign-in within 5 minutes. Run `coppice login` again')),
    maxMs,
  );
  return { server, code: promise.finally(() => clearTimeout(timer)) };
}
