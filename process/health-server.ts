import http from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Registry } from 'prom-client';
import { hasMetricsToken } from './metrics-token.ts';

/** Resolves when all is well; what it throws is reported under its name. */
export type HealthCheck = () => void | Promise<void>;

export interface HealthServerOptions {
  /** 0 takes a free port. */
  port: number;
  host?: string;
  /** The process should be killed when one fails. */
  healthz?: Record<string, HealthCheck>;
  /** The process should get no traffic while one fails. */
  readyz?: Record<string, HealthCheck>;
  registry: Registry;
  /** Who reads /metrics must send it; absent: nobody must. */
  metricsToken?: string | undefined;
  /** A check that takes longer has failed. Default 2 s. */
  checkTimeoutMs?: number;
}

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

  /** Listens. @returns the port. */
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
    if (method !== 'GET' && method !== 'HEAD') return { status: 405, body: 'only GET\n' };
    const { healthz = {}, readyz = {}, registry, metricsToken } = this.#options;
    switch (new URL(url, 'http://localhost').pathname) {
      case '/healthz':
        return this.#check(healthz);
      case '/readyz':
        return this.#check(readyz);
      case '/metrics':
        if (metricsToken !== undefined && !hasMetricsToken(headers.authorization, metricsToken))
          return { status: 401, body: 'send the metrics token: Authorization: Bearer TOKEN\n' };
        return { status: 200, type: registry.contentType, body: await registry.metrics() };
      default:
        return { status: 404, body: 'there are /healthz, /readyz and /metrics\n' };
    }
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
      timer = setTimeout(() => resolve(`no answer within ${ms} ms`), ms);
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
