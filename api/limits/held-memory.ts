import type { Request, RequestHandler, Response } from 'express';
import { knownCaller } from '../auth/caller.ts';
import type { MemoryBudget, Tenant } from './memory-budget.ts';

/** The raw bytes, their text and the parsed value are in memory together. */
const copiesOfBody = 3;
/** A client that does not read its answer for so long is cut off. */
const readDeadlineMs = 60_000;

/** Gives the requests that follow a budget of memory. */
export function heldMemory(budget: MemoryBudget): RequestHandler {
  return (_request, response, next) => {
    response.locals['memory'] = budget;
    next();
  };
}

/**
 * Reserves memory for a body until its answer has gone out, by the length that the client declares.
 * @param maxBytes what the parser takes: counted for a body without a length, or compressed
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
 * Reserves memory for an answer that is not JSON, such as a log, until the connection has closed.
 * @throws TooManyRequests, Unavailable
 */
export function holdAnswer(request: Request, response: Response, bytes: number): void {
  const release = budgetOf(response)?.take(tenantOf(request, response), bytes);
  if (release) response.once('close', release);
}

/**
 * Sends an answer as JSON, and counts it until the client has read it.
 * @param mayRefuse whether nothing was changed: the answer of a write goes out in any case
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
