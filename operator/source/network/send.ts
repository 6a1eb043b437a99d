import { Agent as HttpAgent, request as httpRequest, type IncomingHttpHeaders } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import { isMissingInCluster, notConnectedTo } from './addresses.ts';
import { checkedLookup, checkLiteral, type Names } from './checked-lookup.ts';

export interface HttpRequest {
  method: 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  url: URL;
  headers: Record<string, string>;
  body?: string | undefined;
  /** Maximum number of bytes of the response, if lower than the default. */
  maxBytes?: number | undefined;
}

export interface HttpAnswer {
  status: number;
  headers: IncomingHttpHeaders;
  body: string;
}

/** Sends one request without following redirects. Rejects when there is no response, or it is too long. */
export type Send = (request: HttpRequest) => Promise<HttpAnswer>;

export interface SendOptions {
  /** Returns whether a connection to this address is permitted; called with the address that is connected to. */
  isAddressAllowed?: ((host: string, address: string) => boolean) | undefined;
  /** Timeout from the first byte sent to the last byte read, in milliseconds. */
  timeoutMs: number;
  maxBytes?: number;
  /** Resolves names; defaults to the process's own resolver. */
  names?: Names;
}

/** The host's name resolves to an address that must not be connected to. */
export class AddressNotAllowedError extends Error {
  override readonly name = 'AddressNotAllowedError';
}

const maxBytes = 4 * 1024 * 1024;
/** Shorter than servers keep idle connections: a request on a connection that the server is closing would fail. */
const keepAlive = { keepAlive: true, timeout: 4000 };

export function createSend({
  isAddressAllowed = () => true,
  timeoutMs,
  maxBytes: max = maxBytes,
  names,
}: SendOptions): Send {
  // Separate connections: one that another guard has permitted is not reused here.
  const starts = {
    'http:': { start: httpRequest, agent: new HttpAgent(keepAlive) },
    'https:': { start: httpsRequest, agent: new HttpsAgent(keepAlive) },
  };
  return async ({ method, url, headers, body, maxBytes = max }) => {
    const check = (address: string) => {
      if (isAddressAllowed(url.host, address)) return;
      throw new AddressNotAllowedError(notConnectedTo(url.host));
    };
    checkLiteral(url, check);
    const scheme = url.protocol === 'http:' || url.protocol === 'https:' ? starts[url.protocol] : undefined;
    if (!scheme) throw new Error(`${url.protocol} is not supported`);
    const { start, agent } = scheme;
    return new Promise((resolve, reject) => {
      const signal = AbortSignal.timeout(timeoutMs);
      const request = start(
        url,
        { method, headers, agent, signal, lookup: checkedLookup(check, names) },
        (response) => {
          const chunks: Buffer[] = [];
          let size = 0;
          response.on('data', (chunk: Buffer) => {
            size += chunk.length;
            if (size > maxBytes) response.destroy(new Error(`the response of ${url.host} exceeds ${maxBytes} bytes`));
            else chunks.push(chunk);
          });
          response.on('error', reject);
          response.on('end', () => {
            const text = Buffer.concat(chunks).toString('utf8');
            resolve({ status: response.statusCode ?? 0, headers: response.headers, body: text });
          });
        },
      );
      request.on('error', (error) =>
        reject(isMissingInCluster(url.hostname, error) ? new AddressNotAllowedError(notConnectedTo(url.host)) : error),
      );
      request.end(body);
    });
  };
}
