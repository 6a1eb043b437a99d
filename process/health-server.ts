import http from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Registry } from 'prom-client';
import { hasMetricsToken } from './metrics-token.ts';

/** Resolves when healthy; an error is reported under the check's name. */
export type HealthCheck = () => void | Promise<void>;

export interface HealthServerOptions {
  /** 0 selects a free port. */
  port: number;
  host?: string;
  /** The process is to be restarted when one of these fails. */
  healthz?: Record<string, HealthCheck>;
  /** The process is to receive no traffic while one of these fails. */
  readyz?: Record<string, HealthCheck>;
  /** Resolves when the process has started. Until then /readyz?waitSeconds=N waits for at most N seconds. */
  started?: Promise<unknown> | undefined;
  registry: Registry;
  /** Token that readers of /metrics must send; not required if absent. */
  metricsToken?: string | undefined;
  /** Timeout of a check, which fails after it. Default 2 s. */
  checkTimeoutMs?: number;
}

/** Maximum of `waitSeconds`. */
const maxWaitSeconds = 30;

/** Serves /healthz, /readyz and /metrics on a port of its own, in the format of Kubernetes' own components. */
export class HealthServer {
  readonly #options: HealthServerOptions;
  readonly #server: http.Server;

  constructor(options: HealthServerOptions) {
    this.#options = options;
    this.#server = http.createServer((request, response) => {
      this.#answer(request).then(
        ({ status, type = 'text/plain; charset=utf-8', body }) => {
          const challenge = status === 401 && { 'www-authenticate': 'Bearer' };
          response.writeHead(status, { 'content-type': type, 'cache-control': 'no-store', ...challenge }).end(body);
        },
        (error: unknown) => response.writeHead(500).end(`${messageOf(error)}\n`),
      );
    });
  }

  /** Starts to listen. @returns the port */
  start(): Promise<number> {
    return new Promise((resolve, reject) => {
      this.#server.once('error', reject);
      this.#server.listen(this.#options.port, this.#options.host, () => {
        resolve((this.#server.address() as AddressInfo).port);
      });
    });
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async #answer({ method, url = '/', headers }: http.IncomingMessage): Promise<Answer> {
    if (method !== 'GET' && method !== 'HEAD') return { status: 405, body: 'this server answers only GET\n' };
    const { healthz = {}, readyz = {}, registry, metricsToken } = this.#options;
    const { pathname, searchParams } = new URL(url, 'http://localhost');
    switch (pathname) {
      case '/healthz':
        return this.#check(healthz);
      case '/readyz':
        await this.#untilStarted(Number(searchParams.get('waitSeconds')));
        return this.#check(readyz);
      case '/metrics':
        if (metricsToken !== undefined && !hasMetricsToken(headers.authorization, metricsToken))
          return { status: 401, body: 'send the metrics token: Authorization: Bearer TOKEN\n' };
        return { status: 200, type: registry.contentType, body: await registry.metrics() };
      default:
        return { status: 404, body: 'no such path. This server has /healthz, /readyz and /metrics\n' };
    }
  }

  async #untilStarted(seconds: number): Promise<void> {
    const { started } = this.#options;
    if (!started || !(seconds > 0)) return;
    let timer: NodeJS.Timeout | undefined;
    const timeout = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, Math.min(seconds, maxWaitSeconds) * 1000);
    });
    await Promise.race([started, timeout]);
    clearTimeout(timer);
  }

  async #check(checks: Record<string, HealthCheck>): Promise<Answer> {
    const results = await Promise.all(
      Object.entries(checks).map(async ([name, check]) => {
        const failure = await this.#failureOf(check);
        return { line: failure === undefined ? `[+]${name} ok` : `[-]${name} failed: ${failure}`, failure };
      }),
    );
    const failed = results.some(({ failure }) => failure !== undefined);
    const lines = [...results.map(({ line }) => line), failed ? 'failed' : 'ok'];
    return { status: failed ? 503 : 200, body: `${lines.join('\n')}\n` };
  }

  async #failureOf(check: HealthCheck): Promise<string | undefined> {
    const ms = this.#options.checkTimeoutMs ?? 2000;
    let timer: NodeJS.Timeout | undefined;
    const timeout = new Promise<string>((resolve) => {
      timer = setTimeout(() => resolve(`no response within ${ms} ms`), ms);
    });
    try {
      return await Promise.race([Promise.resolve().then(check), timeout]).then((late) => late ?? undefined);
    } catch (error) {
      return messageOf(error);
    } finally {
      clearTimeout(timer);
    }
  }
}

interface Answer {
  status: number;
  type?: string;
  body: string;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
