import type { Request, RequestHandler, Response } from 'express';
import { knownCaller } from '../auth/caller.ts';
import type { MemoryBudget, Tenant } from './memory-budget.ts';

/** The raw bytes, their text and the parsed value are in memory at the same time. */
const copiesOfBody = 3;
/** A client that does not read its response for this time is disconnected. */
const readDeadlineMs = 60_000;

/** Provides the memory budget to the handlers that follow. */
export function heldMemory(budget: MemoryBudget): RequestHandler {
  return (_request, response, next) => {
    response.locals['memory'] = budget;
    next();
  };
}

/**
 * Reserves memory for a body, by the declared length, until the response has been sent.
 * @param maxBytes the parser's limit, which counts for a compressed body or one without a length
 * @throws TooManyRequests, Unavailable
 */
export function holdBody(request: Request, response: Response, maxBytes: number): void {
  const budget = budgetOf(response);
  if (!budget) return;
  const length = request.get('content-encoding') === undefined ? request.get('content-length') : undefined;
  const hasBody = length !== undefined || request.get('transfer-encoding') !== undefined;
  if (!hasBody) return;
  const bytes = Math.min(Number(length ?? maxBytes) || 0, maxBytes);
  response.once('close', budget.take(tenantOf(request, response), copiesOfBody * bytes));
}

/**
 * Reserves memory for a response other than JSON, such as a log, until the connection has closed.
 * @throws TooManyRequests, Unavailable
 */
export function holdAnswer(request: Request, response: Response, bytes: number): void {
  const release = budgetOf(response)?.take(tenantOf(request, response), bytes);
  if (release) response.once('close', release);
}

/**
 * Sends a JSON response, and counts its memory until the client has read it.
 * @param mayRefuse whether the response can be refused; false after a write
 * @throws TooManyRequests, Unavailable
 */
export function sendJson(request: Request, response: Response, answer: unknown, mayRefuse: boolean): void {
  const budget = budgetOf(response);
  const tenant = tenantOf(request, response);
  if (mayRefuse) budget?.requireRoom(tenant);
  response.json(answer);
  const release = budget?.count(tenant, Number(response.getHeader('content-length') ?? 0));
  const timer = setTimeout(() => response.destroy(), readDeadlineMs).unref();
  response.once('close', () => {
    clearTimeout(timer);
    release?.();
  });
}

function budgetOf(response: Response): MemoryBudget | undefined {
  return response.locals['memory'] as MemoryBudget | undefined;
}

function tenantOf(request: Request, response: Response): Tenant {
  const caller = knownCaller(response);
  return caller ? { kind: 'account', id: caller.user.accountId } : { kind: 'address', id: request.ip ?? '' };
}
