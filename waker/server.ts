import { randomBytes } from 'node:crypto';
import http, { type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { Logger } from 'pino';
import type { KnownEnvironment } from '../waker-protocol/messages.ts';
import { answerRobot, refuse, refuseMany, refuseUpgrade, RETRY_SECONDS, UNCACHED } from './answers.ts';
import { backendsOf, routeOf } from './environments.ts';
import { forward, hasBody, isRepeatable, NoAnswerError, tunnel } from './forward.ts';
import type { HeldRequests } from './held-requests.ts';
import { OWN_PATHS, PROOF_HEADER, waitingPage } from './page.ts';
import type { Proofs } from './proof.ts';
import { progressOf } from './progress.ts';
import { treatmentOf, type Treatment } from './visitor.ts';
import type { Visits } from './visits.ts';
import { Waits, type WaitsOptions } from './waits.ts';

export interface WakerServerOptions extends WaitsOptions {
  /** All requests that are not answered yet, and upgraded connections. */
  open: HeldRequests;
  /** Streams of events of waiting pages; they wake nothing. */
  streams: HeldRequests;
  /** How many connections there are at most, of whatever sort: the memory limit must have room for them. */
  maxConnections: number;
  visits: Pick<Visits, 'report' | 'open'>;
  proofs: Proofs;
  /** Counts requests by what became of them. */
  count: (outcome: Outcome) => void;
  logger: Pick<Logger, 'warn'>;
}

export type Outcome = 'forwarded' | 'page' | 'refused' | 'full' | 'late' | 'unknown' | 'failed' | 'own';

const maxRepeats = 3;
/** Header fields of one request; those of environments can be larger than those of the API. */
const maxHeaderBytes = 32 * 1024;

const tooLargeAnswer = 'HTTP/1.1 431 Request Header Fields Too Large\r\nConnection: close\r\nContent-Length: 0\r\n\r\n';

/** What a request is about. */
interface Visit {
  environment: KnownEnvironment;
  host: string;
  path: string;
  treatment: Treatment;
}

/** Answers visitors of environments that do not run, or whose visitors are being watched for. */
export class WakerServer {
  readonly #options: WakerServerOptions;
  readonly #waits: Waits;
  readonly #server: Server;
  /** Sockets of upgrades, which the server no longer counts. */
  readonly #upgraded = new Set<Socket>();

  constructor(options: WakerServerOptions) {
    this.#options = options;
    this.#waits = new Waits(options);
    this.#server = http.createServer({
      // Bodies wait unread as long as their requests are held.
      requestTimeout: 0,
      headersTimeout: 30_000,
      maxHeaderSize: maxHeaderBytes,
      noDelay: true,
    });
    this.#server.maxConnections = options.maxConnections;
    this.#server.on('request', (request, response) => void this.#serve(request, response));
    this.#server.on('upgrade', (request, socket, head) => void this.#upgrade(request, socket as Socket, head));
    this.#server.on('clientError', ({ code }: NodeJS.ErrnoException, socket) => {
      if (code === 'HPE_HEADER_OVERFLOW') socket.end(tooLargeAnswer);
      else socket.destroy();
    });
  }

  /** @returns the port */
  start(port: number): Promise<number> {
    return new Promise((resolve, reject) => {
      this.#server.once('error', reject);
      this.#server.listen(port, () => resolve((this.#server.address() as AddressInfo).port));
    });
  }

  /** Accepts no more connections, and resolves when all requests are answered or after the time. */
  async stop(graceMs: number): Promise<void> {
    const timer = setTimeout(() => {
      this.#server.closeAllConnections();
      for (const socket of this.#upgraded) socket.destroy();
    }, graceMs);
    await new Promise((resolve) => {
      this.#server.close(resolve);
      this.#server.closeIdleConnections();
    });
    clearTimeout(timer);
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { count, logger } = this.#options;
    try {
      count(await this.#answer(request, response));
    } catch (error) {
      count('failed');
      if (response.destroyed || response.writableEnded) return;
      if (response.headersSent) {
        response.destroy();
        return;
      }
      if (!(error instanceof NoAnswerError)) logger.warn({ err: error }, 'a request could not be forwarded');
      refuse(response, 502, 'the service ended the connection before it answered. Try again');
    }
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<Outcome> {
    const visit = await this.#visitOf(request);
    if (!visit) {
      refuse(response, 503, 'no sleeping environment has this address. Try again in a moment', RETRY_SECONDS);
      return 'unknown';
    }
    // The client has gone while an operator was waited for.
    if (response.destroyed) return 'failed';
    const release = this.#options.open.take(visit.environment);
    if (!release) {
      refuseMany(response);
      return 'full';
    }
    try {
      return await this.#answerVisit(request, response, visit);
    } finally {
      release();
    }
  }

  async #answerVisit(request: IncomingMessage, response: ServerResponse, visit: Visit): Promise<Outcome> {
    const { environment, host, path, treatment } = visit;
    if (path === OWN_PATHS.wake) return this.#wake(request, response, visit);
    if (path === OWN_PATHS.events) return this.#events(request, response, visit);
    if (isRunning(environment, host, path)) return this.#forward(request, response, visit);
    if (treatment === 'refuse') {
      answerRobot(response, path);
      return 'refused';
    }
    if (treatment === 'page') {
      this.#answerPage(response, visit);
      return 'page';
    }
    if (environment.mode === 'asleep' && environment.wakeOn !== 'visit') {
      refuse(response, 503, 'the environment is asleep, and a visit does not wake it');
      return 'refused';
    }
    return this.#forward(request, response, visit);
  }

  /** Returns undefined for a host that no known environment has, and for requests to a proxy. */
  async #visitOf(request: IncomingMessage): Promise<Visit | undefined> {
    const { url = '', headers, method = '' } = request;
    // Only the Host names the environment: the Ingress controller has routed the request by it.
    const host = (headers.host ?? '')
      .trim()
      .toLowerCase()
      .replace(/\.?(?::\d{1,5})?$/, '');
    const path = url.split('?')[0] ?? '';
    if (!path.startsWith('/')) return undefined;
    const environment = await this.#waits.environmentOf(host);
    return environment && { environment, host, path, treatment: treatmentOf({ method, path, headers }) };
  }

  #answerPage(response: ServerResponse, { environment, host }: Visit): void {
    const nonce = randomBytes(16).toString('base64');
    const { html, policy } = waitingPage({ environment, proof: this.#options.proofs.sign(host), nonce });
    response.writeHead(503, {
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': policy,
      'retry-after': String(RETRY_SECONDS),
      'x-robots-tag': 'noindex',
      'referrer-policy': 'same-origin',
      ...UNCACHED,
    });
    response.end(html);
  }

  /** The script of a waiting page wakes the environment. */
  #wake(request: IncomingMessage, response: ServerResponse, { environment, host }: Visit): Outcome {
    const { proofs, visits } = this.#options;
    const proof = String(request.headers[PROOF_HEADER] ?? '');
    if (
      request.method !== 'POST' ||
      !isFromPage(request) ||
      environment.wakeOn !== 'visit' ||
      !proofs.isValid(host, proof)
    ) {
      refuse(response, 403, 'only the script of a waiting page wakes an environment');
      return 'refused';
    }
    visits.report(environment.key);
    response.writeHead(202, UNCACHED).end();
    return 'own';
  }

  /** Streams how the services start, until they run. */
  async #events(request: IncomingMessage, response: ServerResponse, visit: Visit): Promise<Outcome> {
    const { environments, streams, holdMs } = this.#options;
    const { environment, host, treatment } = visit;
    const { key, mode, wakeOn } = environment;
    if (request.method !== 'GET' || !isFromPage(request) || treatment === 'refuse') {
      refuse(response, 403, 'only a waiting page can read how the services start');
      return 'refused';
    }
    if (mode === 'asleep' && wakeOn !== 'visit') {
      refuse(response, 503, 'the environment is asleep, and a visit does not wake it');
      return 'refused';
    }
    const release = streams.take(environment);
    if (!release) {
      refuseMany(response);
      return 'full';
    }
    const closed = new AbortController();
    response.once('close', () => closed.abort());
    try {
      response.writeHead(200, { 'content-type': 'text/event-stream', 'x-accel-buffering': 'no', ...UNCACHED });
      const until = Date.now() + holdMs;
      let sent = '';
      for (let isReady = false; !isReady && !closed.signal.aborted && Date.now() < until;) {
        const progress = progressOf(environments.get(key), host);
        const text = JSON.stringify(progress);
        if (text !== sent) response.write(`data: ${text}\n\n`);
        sent = text;
        isReady = progress.ready;
        if (!isReady) await this.#waits.changed(key, 1000, closed.signal);
      }
      response.end();
      return 'own';
    } finally {
      release();
    }
  }

  /** Holds the request until its service runs, and forwards it. */
  async #forward(request: IncomingMessage, response: ServerResponse, visit: Visit): Promise<Outcome> {
    const { visits } = this.#options;
    const closed = new AbortController();
    response.once('close', () => closed.abort());
    const isVisit = visit.treatment !== 'refuse';
    const end = isVisit ? visits.open(visit.environment.key) : () => undefined;
    try {
      for (let repeats = 0; ; repeats++) {
        const socket = await this.#waits.connect(visit, closed.signal);
        if (socket === 'full') {
          refuseMany(response);
          return 'full';
        }
        if (socket === 'late') {
          refuse(response, 503, 'the environment did not wake in time. Try again', RETRY_SECONDS);
          return 'late';
        }
        try {
          await forward(request, response, socket);
          return 'forwarded';
        } catch (error) {
          const canRepeat = error instanceof NoAnswerError && isRepeatable(request) && !response.headersSent;
          if (!canRepeat || repeats >= maxRepeats || closed.signal.aborted) throw error;
        }
      }
    } finally {
      end();
    }
  }

  async #upgrade(request: IncomingMessage, client: Socket, head: Buffer): Promise<void> {
    const { count, visits, open } = this.#options;
    client.on('error', () => client.destroy());
    this.#upgraded.add(client);
    client.once('close', () => this.#upgraded.delete(client));
    const closed = new AbortController();
    client.once('close', () => closed.abort());
    let end: (() => void) | undefined;
    let release: (() => void) | undefined;
    try {
      const visit = await this.#visitOf(request);
      const canWake = visit && (visit.environment.mode !== 'asleep' || visit.environment.wakeOn === 'visit');
      // Content would be read as the new protocol's by one side, and as a request by the other.
      if (!visit || !canWake || visit.treatment === 'refuse' || hasBody(request)) {
        refuseUpgrade(client);
        count(visit ? 'refused' : 'unknown');
        return;
      }
      release = open.take(visit.environment);
      if (!release) {
        refuseUpgrade(client);
        count('full');
        return;
      }
      end = visits.open(visit.environment.key);
      const socket = await this.#waits.connect(visit, closed.signal);
      if (socket === 'full' || socket === 'late') {
        refuseUpgrade(client);
        count(socket);
        return;
      }
      count('forwarded');
      await tunnel(request, client, head, socket);
    } catch {
      // The client has gone while it was held.
      client.destroy();
      count('failed');
    } finally {
      end?.();
      release?.();
    }
  }
}

/** Whether the request can be forwarded at once. A path without a route is the Ingress controller's mistake. */
function isRunning(environment: KnownEnvironment, host: string, path: string): boolean {
  const { mode, hosts } = environment;
  if (mode === 'asleep') return false;
  if (backendsOf(environment, host, path).length > 0) return true;
  return mode !== 'waking' && routeOf(hosts[host] ?? [], path) !== undefined;
}

/** Whether the script of a page of this host sends the request, or a program. */
function isFromPage({ headers }: IncomingMessage): boolean {
  const site = headers['sec-fetch-site'];
  return site === undefined || site === 'same-origin';
}
