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
  /** Whose request it is, by the account's id; absent before that is known, and of a delivery. */
  account?: string;
  /** Whether it has started to write. */
  hasWritten?: boolean;
  /** Called with of each change from when it is set: of a handler that goes on once its answer is over. */
  onLate?: (change: Change) => void;
}

const current = new AsyncLocalStorage<RequestContext>();

/**
 * Every request has an id, ours or the caller's, which the answer carries too, and what it asks the operator for: one id
 * from the access log to the build's Job.
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

/** @throws TypeError before requestContext(): a mistake of ours. */
export function requestContextOf(locals: Record<string, unknown>): RequestContext {
  const context = locals['requestContext'] as RequestContext | undefined;
  if (!context) throw new TypeError('the request has no context');
  return context;
}

/** The id of the request that this is done for; made up where it is for none. */
export function currentRequestId(): string {
  return current.getStore()?.id ?? randomUUID();
}

/** Notes whose request this is. */
export function noteAccount(accountId: string): void {
  const context = current.getStore();
  if (context) context.account = accountId;
}

/** The account that this is done for; undefined for a delivery of a Git host. */
export function currentAccount(): string | undefined {
  return current.getStore()?.account;
}

/** Whether this is the request's first write, reported once; always outside of a request. */
export function isFirstWrite(): boolean {
  const context = current.getStore();
  if (!context) return true;
  const isFirst = context.hasWritten !== true;
  context.hasWritten = true;
  return isFirst;
}

/** Notes a write for the request that it was done for, if there is one. */
export function noteChange(change: Change): void {
  const context = current.getStore();
  context?.changes.push(change);
  context?.onLate?.(change);
}
