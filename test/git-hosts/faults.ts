import { setTimeout as sleep } from 'node:timers/promises';
import type { ServerResponse } from 'node:http';
import type { Reply } from './api.ts';

/** How a host fails for calls that match `match`. */
export interface Fault {
  /** A regular expression over `METHOD /path?query`. */
  match: string;
  /** The HTTP status of the response, with `headers`, or another failure. */
  answer: number | 'hang' | 'slow' | 'half' | 'page loop' | 'sign-in page' | 'not JSON';
  headers?: Record<string, string>;
}

/** Delay of each response of a slow host, in milliseconds. */
const slowMs = 5000;

/** The faults of each repository by path, also of missing repositories. */
export class Faults {
  readonly #faults = new Map<string, Fault[]>();

  set(path: string, faults: readonly Fault[]): void {
    this.#faults.set(path, [...faults]);
  }

  find(path: string, method: string, url: URL): Fault | undefined {
    const line = `${method} ${url.pathname}${url.search}`;
    return this.#faults.get(path)?.find(({ match }) => new RegExp(match).test(line));
  }
}

export function send(response: ServerResponse, { status, headers = {}, json, text }: Reply, isHalf = false): void {
  const body = json === undefined ? (text ?? '') : JSON.stringify(json);
  const type = json === undefined ? 'text/html; charset=utf-8' : 'application/json; charset=utf-8';
  if (isHalf) {
    response.writeHead(status, { 'content-type': type, 'content-length': Buffer.byteLength(body) + 100, ...headers });
    response.write(body.slice(0, body.length / 2), () => response.destroy());
    return;
  }
  response.writeHead(status, { ...(body !== '' && { 'content-type': type }), ...headers }).end(body);
}

/**
 * Responds as the fault requires, in the host's own error format. Returns false if the call is to be handled anyway:
 * after a delay, truncated, or with endless pages.
 */
export async function fail(
  { answer, headers }: Fault,
  response: ServerResponse,
  refuse: (status: number, message: string) => Reply,
): Promise<boolean> {
  if (answer === 'slow') await sleep(slowMs);
  if (answer === 'slow' || answer === 'half' || answer === 'page loop') return false;
  if (answer === 'hang') return true;
  if (answer === 'sign-in page') send(response, { status: 203, text: '<html>Sign in to your account</html>' });
  else if (answer === 'not JSON') {
    send(response, { status: 200, text: '{"half":', headers: { 'content-type': 'application/json' } });
  } else {
    const reply = refuse(answer, 'as the test wants it');
    send(response, { ...reply, headers: { ...reply.headers, ...headers } });
  }
  return true;
}
