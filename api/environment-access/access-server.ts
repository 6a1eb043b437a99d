import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Unavailable } from '../shared/errors.ts';
import { forwardedRequest } from './forwarded-request.ts';
import type { Gate, GateAnswer } from './gate.ts';

/** Requests of browsers can have many cookies; the Ingress controller bounds them too. */
const maxHeaderBytes = 64 * 1024;
/** Longer than the Ingress controller keeps idle connections. */
const keepAliveTimeoutMs = 120_000;

/** Path at which the Ingress controller asks. */
export const FORWARD_AUTH_PATH = '/forward-auth';

export interface AccessServerOptions {
  gate: Pick<Gate, 'answer'>;
  logger: { error(error: unknown, message: string): void };
}

/** Answers the Ingress controller on a port of its own, which network policies permit only it to reach. */
export class AccessServer {
  readonly #server: Server;

  constructor({ gate, logger }: AccessServerOptions) {
    const options = { maxHeaderSize: maxHeaderBytes, keepAliveTimeout: keepAliveTimeoutMs };
    this.#server = createServer(options, (request, response) => {
      answer(gate, request, response).catch((error: unknown) => {
        logger.error({ err: error }, 'access to an environment could not be decided');
        send(response, 503, 'access cannot be decided now. Try again in a few seconds', false);
      });
    });
  }

  /** Starts to listen. @returns the port */
  start(port: number): Promise<number> {
    return new Promise((resolve, reject) => {
      this.#server.once('error', reject);
      this.#server.listen(port, () => resolve((this.#server.address() as AddressInfo).port));
    });
  }

  /** Stops accepting connections, and waits for requests to end. */
  async stop(): Promise<void> {
    const closed = new Promise((resolve) => this.#server.close(resolve));
    this.#server.closeIdleConnections();
    await closed;
  }
}

async function answer(gate: Pick<Gate, 'answer'>, request: IncomingMessage, response: ServerResponse): Promise<void> {
  request.resume();
  if (request.url !== FORWARD_AUTH_PATH) {
    send(response, 404, `this port answers ${FORWARD_AUTH_PATH} only`, false);
    return;
  }
  const forwarded = forwardedRequest(request.headers);
  const isPage = forwarded?.acceptsHtml ?? false;
  let decided: GateAnswer;
  try {
    decided = await gate.answer(forwarded);
  } catch (error) {
    if (!(error instanceof Unavailable)) throw error;
    send(response, 503, error.message, isPage);
    return;
  }
  switch (decided.kind) {
    case 'pass':
      // The Ingress controller replaces these headers of the request with those of this answer, or removes them.
      response.writeHead(200, decided.cookies === undefined ? {} : { Cookie: decided.cookies }).end();
      return;
    case 'redirect':
      response.setHeader('Set-Cookie', [...decided.setCookies]);
      response.writeHead(303, { ...unstored, Location: decided.location }).end();
      return;
    case 'refuse':
      send(response, decided.status, decided.message, isPage);
  }
}

/** No URL of this exchange is stored, or named to another site. */
const unstored = { 'Cache-Control': 'no-store', 'Referrer-Policy': 'no-referrer' };

/** Sends a message, as a page to browsers. All messages are texts of this program. */
function send(response: ServerResponse, status: number, message: string, isPage: boolean): void {
  const security = {
    ...unstored,
    'Content-Security-Policy': "default-src 'none'",
    'X-Content-Type-Options': 'nosniff',
  };
  if (!isPage) {
    response.writeHead(status, { ...security, 'Content-Type': 'application/json' });
    response.end(JSON.stringify({ error: message }));
    return;
  }
  response.writeHead(status, { ...security, 'Content-Type': 'text/html; charset=utf-8' });
  response.end(`<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>Access refused</title>
<h1>Access refused</h1>
<p>${message}.</p>
<p><a href="/">Open the environment</a></p>
</html>
`);
}
