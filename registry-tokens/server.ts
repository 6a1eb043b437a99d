import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Logger } from 'pino';
import type { TokenAnswer, TokenEndpoint } from './token-endpoint.ts';

/** Enough for the scopes of 32 images and a credential. */
const maxHeaderBytes = 8192;
const timeoutMs = 5000;
const maxConnections = 256;

/** Serves the token endpoint over HTTP. Reads no request bodies, and limits the number and duration of connections. */
export class TokenServer {
  readonly #server: Server;

  constructor(endpoint: Pick<TokenEndpoint, 'answer'>, logger: Logger) {
    const limits = { maxHeaderSize: maxHeaderBytes, headersTimeout: timeoutMs, requestTimeout: timeoutMs };
    this.#server = createServer({ ...limits, keepAliveTimeout: timeoutMs }, (request, response) => {
      const { method, url, headers } = request;
      const hasBody = headers['transfer-encoding'] !== undefined || (headers['content-length'] ?? '0') !== '0';
      endpoint.answer({ method, url, authorization: headers.authorization }).then(
        (answer) => send(response, answer, hasBody),
        (error: unknown) => {
          logger.error({ err: error }, 'a token cannot be signed');
          send(
            response,
            {
              status: 500,
              body: {
                errors: [
                  {
                    code: 'UNKNOWN',
                    message: 'the token could not be signed. Ask an administrator to check the log of the token server',
                  },
                ],
              },
            },
            true,
          );
        },
      );
    });
    this.#server.maxConnections = maxConnections;
  }

  /** Starts to listen; 0 selects a free port. Resolves with the port. */
  start(port: number, host?: string): Promise<number> {
    return new Promise((resolve, reject) => {
      this.#server.once('error', reject);
      this.#server.listen(port, host, () => resolve((this.#server.address() as AddressInfo).port));
    });
  }

  async stop(): Promise<void> {
    const closed = new Promise((resolve) => this.#server.close(resolve));
    this.#server.closeIdleConnections();
    const late = setTimeout(() => this.#server.closeAllConnections(), timeoutMs);
    await closed;
    clearTimeout(late);
  }
}

/** Sends a response, and closes a connection whose request has a body, which is not read. */
function send(response: ServerResponse, { status, headers, body }: TokenAnswer, closes: boolean): void {
  const type = { 'content-type': 'application/json', 'cache-control': 'no-store' };
  response.writeHead(status, { ...type, ...headers, ...(closes && { connection: 'close' }) }).end(JSON.stringify(body));
}
