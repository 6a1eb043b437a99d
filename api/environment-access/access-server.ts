import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { FORWARD_AUTH_PATH, GATE_PATH, INGRESS_NGINX_PATH } from '../../environment-access/paths.ts';
import { Unavailable } from '../shared/errors.ts';
import { directRequest, forwardedRequest, originalRequest, type ForwardedRequest } from './forwarded-request.ts';
import type { Gate, GateAnswer } from './gate.ts';

/** Requests of browsers can have many cookies; the Ingress controller bounds them too. */
const maxHeaderBytes = 64 * 1024;
/** Longer than the Ingress controller keeps idle connections. */
const keepAliveTimeoutMs = 120_000;

type AccessGate = Pick<Gate, 'answer' | 'check'>;

export interface AccessServerOptions {
  gate: AccessGate;
  logger: { error(error: unknown, message: string): void };
}

/** Answers Ingress controllers on a port of its own, which network policies permit only it to reach. */
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

async function answer(gate: AccessGate, request: IncomingMessage, response: ServerResponse): Promise<void> {
  request.resume();
  const { url = '' } = request;
  if (url === FORWARD_AUTH_PATH) {
    const forwarded = forwardedRequest(request.headers);
    sendAnswer(response, await gateAnswer(gate.answer(forwarded)), forwarded);
  } else if (url.startsWith(INGRESS_NGINX_PATH)) {
    const forwarded = originalRequest(request.headers);
    sendToNginx(response, await gateAnswer(gate.check(forwarded, url.slice(INGRESS_NGINX_PATH.length))));
  } else if (url === GATE_PATH || url.startsWith(`${GATE_PATH}?`)) {
    const direct = directRequest(request);
    const decided = await gateAnswer(gate.answer(direct));
    sendAnswer(response, decided.kind === 'pass' ? toEnvironment : decided, direct);
  } else {
    send(response, 404, 'this port only decides about requests to environments', false);
  }
}

/** Answer at the gate's path of an environment that everybody can open. */
const toEnvironment = { kind: 'redirect', location: '/', setCookies: [] } as const;

type Decision = GateAnswer | { kind: 'unavailable'; message: string };

async function gateAnswer(deciding: Promise<GateAnswer>): Promise<Decision> {
  try {
    return await deciding;
  } catch (error) {
    if (!(error instanceof Unavailable)) throw error;
    return { kind: 'unavailable', message: error.message };
  }
}

/** Answers Traefik, which sends any answer but 200 to the client, or the client itself. */
function sendAnswer(response: ServerResponse, decided: Decision, forwarded: ForwardedRequest | undefined): void {
  const isPage = forwarded?.acceptsHtml ?? false;
  switch (decided.kind) {
    case 'pass':
      sendPass(response, decided.cookies);
      return;
    case 'redirect':
      response.setHeader('Set-Cookie', [...decided.setCookies]);
      response.writeHead(303, { ...unstored, Location: decided.location }).end();
      return;
    case 'refuse':
      send(response, decided.status, decided.message, isPage);
      return;
    case 'unavailable':
      send(response, 503, decided.message, isPage);
  }
}

/**
 * Answers nginx, which understands only the status: 401 sends the visitor to the gate's path of the environment
 * (`auth-signin`), 403 refuses the request, and anything else but a success is answered with 500.
 */
function sendToNginx(response: ServerResponse, decided: Decision): void {
  switch (decided.kind) {
    case 'pass':
      sendPass(response, decided.cookies);
      return;
    case 'redirect':
      // Without a cookie: nginx would pass it on, and the gate sets its own.
      send(response, 401, 'log in', false);
      return;
    case 'refuse':
      send(response, 403, decided.message, false);
      return;
    case 'unavailable':
      send(response, 503, decided.message, false);
  }
}

/** The Ingress controller replaces these headers of the request with those of this answer, or removes them. */
function sendPass(response: ServerResponse, cookies: string | undefined): void {
  response.writeHead(200, cookies === undefined ? {} : { Cookie: cookies }).end();
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
