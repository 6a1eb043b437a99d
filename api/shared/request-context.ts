import { AsyncLocalStorage } from 'node:async_hooks';
import { randomUUID } from 'node:crypto';
import type { RequestHandler } from 'express';
import { REQUEST_ID_PATTERN } from '../../crds/requests.ts';

const header = 'X-Request-Id';

/** One write to the cluster. */
export interface Change {
  verb: 'create' | 'patch' | 'delete';
  kind: string;
  /** `namespace/name` */
  key: string;
}

interface RequestContext {
  readonly id: string;
  readonly changes: Change[];
  /** ID of the caller's account; absent before authentication, and for a webhook delivery. */
  account?: string;
  /** Whether the request has written to the cluster. */
  hasWritten?: boolean;
  /** Called with each later change, of a handler that continues after its response has ended. */
  onLate?: (change: Change) => void;
}

const current = new AsyncLocalStorage<RequestContext>();

/**
 * Gives every request an ID, its own X-Request-Id or a new one. The response and the requests to the operator contain
 * it, so that it can be followed from the access log to the build's Job.
 */
export function requestContext(): RequestHandler {
  return (request, response, next) => {
    const given = request.get(header);
    const id = given !== undefined && REQUEST_ID_PATTERN.test(given) ? given : randomUUID();
    const context: RequestContext = { id, changes: [] };
    response.locals['requestContext'] = context;
    response.setHeader(header, id);
    current.run(context, next);
  };
}

/** Returns the request's context. @throws TypeError before requestContext(), which is a programming error */
export function requestContextOf(locals: Record<string, unknown>): RequestContext {
  const context = locals['requestContext'] as RequestContext | undefined;
  if (!context) throw new TypeError('the request has no context: requestContext() must run first');
  return context;
}

/** Returns the ID of the current request; a new one outside of requests. */
export function currentRequestId(): string {
  return current.getStore()?.id ?? randomUUID();
}

/** Records the account that sent the current request. */
export function noteAccount(accountId: string): void {
  const context = current.getStore();
  if (context) context.account = accountId;
}

/** Returns the account that sent the current request; undefined for a delivery of a Git host. */
export function currentAccount(): string | undefined {
  return current.getStore()?.account;
}

/** Returns true for the first write of the current request, and for every write outside of requests. */
export function isFirstWrite(): boolean {
  const context = current.getStore();
  if (!context) return true;
  const isFirst = context.hasWritten !== true;
  context.hasWritten = true;
  return isFirst;
}

/** Records a write for the current request, if there is one. */
export function noteChange(change: Change): void {
  const context = current.getStore();
  context?.changes.push(change);
  context?.onLate?.(change);
}
