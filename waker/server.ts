import http, { type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { Logger } from 'pino';
import type { KnownEnvironment } from '../waker-protocol/messages.ts';
import { answerRobot, refuse, refuseAsleep, refuseMany, refuseUpgrade, RETRY_SECONDS } from './answers.ts';
import { backendsOf, canWakeByVisit, routeOf } from './environments.ts';
import { forward, hasBody, isRepeatable, MalformedAnswerError, NoAnswerError, tunnel } from './forward.ts';
import type { RequestSlots } from './request-slots.ts';
import { OWN_PATHS } from './page.ts';
import { treatmentOf } from './visitor.ts';
import { abortedWith, type Exchange, type Outcome, type Visit } from './visit.ts';
import type { Visits } from './visits.ts';
import { WaitingPages, type WaitingPagesOptions } from './waiting-pages.ts';
import { Waits, type WaitsOptions } from './waits.ts';

export interface WakerServerOptions extends WaitsOptions, Omit<WaitingPagesOptions, 'waits'> {
  /** All requests that are not answered yet, and upgraded connections. */
  open: RequestSlots;
  /** Maximum number of connections of all kinds; the memory limit must have room for them. */
  maxConnections: number;
  /** How long a request waits for services, and a page's stream lasts, in milliseconds. */
  holdMs: number;
  visits: Pick<Visits, 'report' | 'open'>;
  /** Counts requests by what became of them. */
  count: (outcome: Outcome) => void;
  logger: Pick<Logger, 'warn' | 'error'>;
}

const maxRepeats = 3;
/** Header fields of one request; those of environments can be larger than those of the API. */
const maxHeaderBytes = 32 * 1024;

const tooLargeAnswer = 'HTTP/1.1 431 Request Header Fields Too Large\r\nConnection: close\r\nContent-Length: 0\r\n\r\n';

/** Answers requests to environments that do not run, or whose visits are recorded. */
export class WakerServer {
  readonly #options: WakerServerOptions;
  readonly #waits: Waits;
  readonly #pages: WaitingPages;
  readonly #server: Server;
  /** Sockets of upgrades, which the server no longer counts. */
  readonly #upgraded = new Set<Socket>();

  constructor(options: WakerServerOptions) {
    this.#options = options;
    this.#waits = new Waits(options);
    this.#pages = new WaitingPages({ ...options, waits: this.#waits });
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

  /** Starts to listen. @returns the port */
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
      count(await this.#answer(request, response, abortedWith(response)));
    } catch (error) {
      count('failed');
      if (response.destroyed || response.writableEnded) return;
      if (response.headersSent) {
        response.destroy();
        return;
      }
      if (error instanceof NoAnswerError) {
        refuse(response, 502, 'the service ended the connection before it answered. Try again');
        return;
      }
      if (error instanceof MalformedAnswerError) {
        refuse(response, 502, 'the service answered with a status or a header that HTTP does not allow');
        return;
      }
      logger.error({ err: error }, 'a request could not be answered');
      refuse(response, 500, 'the waker could not answer the request. Try again');
    }
  }

  async #answer(request: IncomingMessage, response: ServerResponse, closed: AbortSignal): Promise<Outcome> {
    const visit = await this.#visitOf(request, closed);
    // The client disconnected while its request waited for an operator.
    if (closed.aborted) return 'failed';
    if (!visit) {
      refuse(response, 503, 'no sleeping environment has this address. Try again in a moment', RETRY_SECONDS);
      return 'unknown';
    }
    const release = this.#options.open.take(visit.environment);
    if (!release) {
      refuseMany(response);
      return 'full';
    }
    try {
      return await this.#answerVisit({ request, response, closed }, visit);
    } finally {
      release();
    }
  }

  async #answerVisit(exchange: Exchange, visit: Visit): Promise<Outcome> {
    const { response } = exchange;
    const { environment, host, path, treatment } = visit;
    if (path === OWN_PATHS.wake) return this.#pages.wake(exchange, visit);
    if (path === OWN_PATHS.events) return this.#pages.streamProgress(exchange, visit);
    if (goesToService(environment, host, path)) return this.#forward(exchange, visit);
    if (treatment === 'refuse') {
      answerRobot(response, path);
      return 'refused';
    }
    if (treatment === 'page') {
      this.#pages.show(response, visit);
      return 'page';
    }
    if (!canWakeByVisit(environment)) {
      refuseAsleep(response);
      return 'refused';
    }
    return this.#forward(exchange, visit);
  }

  /** Returns undefined for a host that no known environment has, and for requests to a proxy. */
  async #visitOf(request: IncomingMessage, closed: AbortSignal): Promise<Visit | undefined> {
    const { url = '', headers, method = '' } = request;
    // Only the Host names the environment: the Ingress controller has routed the request by it.
    const host = (headers.host ?? '')
      .trim()
      .toLowerCase()
      .replace(/\.?(?::\d{1,5})?$/, '');
    const path = url.split('?')[0] ?? '';
    if (!path.startsWith('/')) return undefined;
    const environment = await this.#waits.environmentOf(host, closed);
    return environment && { environment, host, path, treatment: treatmentOf({ method, path, headers }) };
  }

  /** Holds the request until its service runs, and forwards it. */
  async #forward({ request, response, closed }: Exchange, visit: Visit): Promise<Outcome> {
    const { visits, holdMs } = this.#options;
    const until = Date.now() + holdMs;
    const isVisit = visit.treatment !== 'refuse';
    const end = isVisit ? visits.open(visit.environment.key) : () => undefined;
    try {
      for (let repeats = 0; ; repeats++) {
        const socket = await this.#waits.connect(visit, until, closed);
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
          if (!canRepeat || repeats >= maxRepeats || closed.aborted) throw error;
        }
      }
    } finally {
      end();
    }
  }

  async #upgrade(request: IncomingMessage, client: Socket, head: Buffer): Promise<void> {
    const { count, visits, open, holdMs, logger } = this.#options;
    const until = Date.now() + holdMs;
    client.on('error', () => client.destroy());
    this.#upgraded.add(client);
    client.once('close', () => this.#upgraded.delete(client));
    const closed = abortedWith(client);
    let end: (() => void) | undefined;
    let release: (() => void) | undefined;
    try {
      const visit = await this.#visitOf(request, closed);
      // Content would be read as the new protocol's by one side, and as a request by the other.
      if (!visit || !canWakeByVisit(visit.environment) || visit.treatment === 'refuse' || hasBody(request)) {
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
      const socket = await this.#waits.connect(visit, until, closed);
      if (socket === 'full' || socket === 'late') {
        refuseUpgrade(client);
        count(socket);
        return;
      }
      count('forwarded');
      await tunnel(request, client, head, socket);
    } catch (error) {
      if (!closed.aborted) logger.warn({ err: error }, 'an upgrade could not be forwarded');
      client.destroy();
      count('failed');
    } finally {
      end?.();
      release?.();
    }
  }
}

/**
 * Returns whether the request goes to the service: a pod is ready, or the environment runs and has a route for the path.
 * The Ingress controller should send no other path.
 */
function goesToService(environment: KnownEnvironment, host: string, path: string): boolean {
  const { mode, hosts } = environment;
  if (mode === 'asleep') return false;
  if (backendsOf(environment, host, path).length > 0) return true;
  return mode !== 'waking' && routeOf(hosts[host] ?? [], path) !== undefined;
}
