import http from 'node:http';
import https from 'node:https';
import type { LookupFunction } from 'node:net';
import { ingressUnreached } from '../test-types/kind.ts';
import type { Environments } from './environments.ts';

/** Maximum number of bytes read from a response. */
export const MAX_BYTES = 1024 * 1024;
const maxRedirects = 5;
/** Errors that mean that the Ingress controller was not found or reached, which is not a fault of the environment. */
const notReached = new Set(['ENOTFOUND', 'EAI_AGAIN', 'ECONNREFUSED', 'EHOSTUNREACH', 'ENETUNREACH']);

export interface Page {
  status: number;
  /** The first MAX_BYTES of the body. */
  text: string;
}

export interface GetOptions {
  environments: Environments;
  signal: AbortSignal;
  /** Sent in addition to the tester's own. */
  headers?: Readonly<Record<string, string>> | undefined;
  /** Defaults to the system's DNS lookup. */
  lookup?: LookupFunction;
}

/** The environment did not send a valid HTTP response; the message says why. */
export class NoAnswer extends Error {
  override name = 'NoAnswer';
}

/**
 * Sends a GET to an environment's URL and follows up to five redirects.
 * @throws NoAnswer, also for a redirect outside the environment, to which the test's author may have no access;
 * CouldNotRun when the Ingress controller cannot be reached
 */
export async function getFollowing(url: URL, options: GetOptions): Promise<Page> {
  const environment = options.environments.of(url);
  let next = url;
  for (let redirects = 0; redirects <= maxRedirects; redirects++) {
    if (!environment?.has(next))
      throw new NoAnswer(`it redirects to ${next.origin}, which is outside this environment. Correct the redirect`);
    const { location, ...page } = await getOnce(next, options);
    if (location === undefined) return page;
    const target = URL.parse(location, next.href);
    if (target === null) throw new NoAnswer('it redirects to an invalid URL. Correct its Location header');
    next = target;
  }
  throw new NoAnswer(`it redirects more than ${maxRedirects} times. Check the redirects for a loop`);
}

/** Sends a GET without following redirects; `location` is the redirect's target, if any. */
export function getOnce(
  url: URL,
  { signal, lookup, headers: more }: GetOptions,
): Promise<Page & { location?: string }> {
  const request: typeof http.request = url.protocol === 'https:' ? https.request : http.request;
  return new Promise((resolve, reject) => {
    const fail = (error: Error) => reject(asFailure(error, signal));
    const headers = { ...more, 'user-agent': 'coppice-tester', accept: '*/*' };
    request(url, { agent: false, signal, lookup, headers }, (response) => {
      const { statusCode: status = 0 } = response;
      const { location } = response.headers;
      const isRedirect = [301, 302, 303, 307, 308].includes(status) && location !== undefined;
      const chunks: Buffer[] = [];
      let bytes = 0;
      const done = () => {
        const text = Buffer.concat(chunks).subarray(0, MAX_BYTES).toString();
        resolve({ status, text, ...(isRedirect && { location }) });
      };
      response.on('data', (chunk: Buffer) => {
        chunks.push(chunk);
        bytes += chunk.length;
        if (bytes < MAX_BYTES) return;
        done();
        response.destroy();
      });
      response.on('end', done);
      response.on('error', fail);
    })
      .on('error', fail)
      .end();
  });
}

function asFailure(error: Error, signal: AbortSignal): Error {
  if (signal.aborted)
    return new NoAnswer('it did not respond in time. Raise timeoutSeconds, or make it faster', { cause: error });
  const { code = error.name } = error as NodeJS.ErrnoException;
  if (notReached.has(code)) {
    return ingressUnreached(code, error);
  }
  return new NoAnswer(`the connection failed (${code}). Read the log of its service`, { cause: error });
}
