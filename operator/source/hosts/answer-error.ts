import type { HttpAnswer } from '../network/send.ts';
import { HostBusyError, SourceRefusedError, SourceUnreachableError } from '../errors.ts';

const minMs = 1000;
const maxMs = 3600_000;
/** Wait after a rate limit without Retry-After, as GitHub recommends. */
const defaultWaitMs = 60_000;

type Answer = Pick<HttpAnswer, 'status' | 'headers' | 'body'>;

/**
 * Returns the error for an unexpected response. The message names the host and the request, never the response, which
 * may contain a token. `what`: method and path.
 */
export function answerError(host: string, what: string, answer: Answer, now: Date): Error {
  const { status } = answer;
  const waitMs = retryAfterMs(answer, now);
  if (waitMs !== undefined)
    return new HostBusyError(`${host} limits requests (${status}). Coppice waits as long as it asks`, waitMs);
  if (status >= 300 && status < 400 && status !== 304) {
    return new SourceRefusedError(
      'Refused',
      `${host} redirects ${what} (${status}), which Coppice does not follow. Was the repository renamed or moved? ` +
        'Use its current name and address',
    );
  }
  const refusal = refusals.get(status);
  if (refusal) return new SourceRefusedError(refusal.reason, `${host} ${refusal.words} (${what}: ${status})`);
  if (status >= 400 && status < 500 && !passing.has(status)) {
    return new SourceRefusedError(
      'Refused',
      `${host} rejected a request of Coppice (${what}: ${status}). Check the names in the Repository and the permissions of its token`,
    );
  }
  return new SourceUnreachableError(`${host} responded with status ${status} (${what})`);
}

/** Request Timeout and Too Early: the same request can succeed later. */
const passing = new Set([408, 425]);

const refusals = new Map<number, { reason: SourceRefusedError['reason']; words: string }>([
  [401, { reason: 'AuthenticationFailed', words: 'rejected the token. Use one that is valid and has not expired' }],
  [403, { reason: 'Forbidden', words: 'does not permit this token to do that. Give it the required scope or role' }],
  [
    404,
    {
      reason: 'NotFound',
      words: 'has no such repository or object, or the token has no access to it. Check the names and the token',
    },
  ],
]);

/** Returns how long to wait before the next request, in milliseconds; undefined if the host does not limit requests. */
function retryAfterMs({ status, headers, body }: Answer, now: Date): number | undefined {
  const { 'retry-after': retryAfter, 'x-ratelimit-remaining': remaining, 'x-ratelimit-reset': reset } = headers;
  const isLimit = status === 403 && (retryAfter !== undefined || remaining === '0' || /rate limit/i.test(body));
  const isAway = status === 503 && retryAfter !== undefined;
  if (status !== 429 && !isLimit && !isAway) return undefined;
  const seconds = retryAfter === undefined ? Number(reset) * 1000 - now.getTime() : delayMs(retryAfter, now);
  return Math.min(Math.max(Number.isFinite(seconds) ? seconds : defaultWaitMs, minMs), maxMs);
}

/** Parses Retry-After: seconds or a date (RFC 9110, 10.2.3). */
function delayMs(retryAfter: string, now: Date): number {
  return /^\d+(\.\d+)?$/.test(retryAfter) ? Number(retryAfter) * 1000 : Date.parse(retryAfter) - now.getTime();
}
