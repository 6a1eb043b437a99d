import { Agent as HttpAgent, request as httpRequest, type IncomingHttpHeaders } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import { isMissingInCluster, notConnectedTo } from './addresses.ts';
import { checkedLookup, checkLiteral } from './checked-lookup.ts';

export interface HttpRequest {
  method: 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  url: URL;
  headers: Record<string, string>;
  body?: string | undefined;
  /** Of the answer, where fewer may come than otherwise. */
  maxBytes?: number | undefined;
}

export interface HttpAnswer {
  status: number;
  headers: IncomingHttpHeaders;
  body: string;
}

/** One request; redirects are not followed. Rejects when there is no answer, or one that is too long. */
export type Send = (request: HttpRequest) => Promise<HttpAnswer>;

export interface SendOptions {
  /** Whether a connection to this address may be made: asked of the very address that is connected to. */
  isAddressAllowed?: ((host: string, address: string) => boolean) | undefined;
  /** From the first byte sent to the last one read. */
  timeoutMs: number;
  maxBytes?: number;
}

/** The address that a host's name leads to is none that may be connected to. */
export class AddressNotAllowedError extends Error {
  override readonly name = 'AddressNotAllowedError';
}

const maxBytes = 4 * 1024 * 1024;
/** Less than servers keep an idle connection: one that the server closes meanwhile would fail the next request. */
const keepAlive = { keepAlive: true, timeout: 4000 };

export function createSend({ isAddressAllowed = () => true, timeoutMs, maxBytes: max = maxBytes }: SendOptions): Send {
  // Connections of its own: one that another guard let through is never used again here.
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
      const request = start(url, { method, headers, agent, signal, lookup: checkedLookup(check) }, (response) => {
        const chunks: Buffer[] = [];
        let size = 0;
        response.on('data', (chunk: Buffer) => {
          size += chunk.length;
          if (size > maxBytes) response.destroy(new Error(`${url.host} answered more than ${maxBytes} bytes`));
          else chunks.push(chunk);
        });
        response.on('error', reject);
        response.on('end', () => {
          const text = Buffer.concat(chunks).toString('utf8');
          resolve({ status: response.statusCode ?? 0, headers: response.headers, body: text });
        });
      });
      request.on('error', (error) =>
        reject(isMissingInCluster(url.hostname, error) ? new AddressNotAllowedError(notConnectedTo(url.host)) : error),
      );
      request.end(body);
    });
  };
}
