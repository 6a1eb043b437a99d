import type { Request, RequestHandler, Response } from 'express';
import { ipKeyGenerator } from 'express-rate-limit';
import { knownCaller } from '../auth/caller.ts';
import type { MemoryBudget, Release, Tenant } from './memory-budget.ts';
import { cutIfClosing, readDeadlineMs, releaseWhenRead } from './unread-answers.ts';

/** The raw bytes, their text and the parsed value are in memory at the same time. */
const copiesOfBody = 3;

/** Provides the memory budget to the handlers that follow. */
export function heldMemory(budget: MemoryBudget): RequestHandler {
  return (request, response, next) => {
    if (cutIfClosing(request)) return;
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
 * Reserves memory for a streamed response, such as a log, until the client has read it.
 * @param bytes maximum number in memory at once
 * @throws TooManyRequests, Unavailable
 */
export function holdAnswer(request: Request, response: Response, bytes: number): void {
  const release = budgetOf(response)?.take(tenantOf(request, response), bytes);
  if (release) releaseWhenRead({ request, response }, bytes, release);
}

/**
 * Sends a JSON response, and counts its memory until the client has read it.
 * @param canRefuse whether the response can be refused; false after a write
 * @throws TooManyRequests, Unavailable
 */
export function sendJson(request: Request, response: Response, answer: unknown, canRefuse: boolean): void {
  const budget = budgetOf(response);
  const tenant = tenantOf(request, response);
  if (canRefuse) budget?.requireRoom(tenant);
  const body = Buffer.from(JSON.stringify(answer));
  const release = budget?.count(tenant, body.length);
  sendHeld({ request, response, body, bytes: body.length, release });
}

/**
 * Sends a response that all clients share, such as a file, and counts it until the client has read it, because the kernel
 * copies it for each client.
 * @throws TooManyRequests, Unavailable, before it sets any of the headers
 */
export function sendBytes(
  request: Request,
  response: Response,
  body: Buffer,
  headers: Readonly<Record<string, string>>,
): void {
  const bytes = request.method === 'HEAD' ? 0 : body.length;
  const release = budgetOf(response)?.take(tenantOf(request, response), bytes);
  response.set(headers);
  sendHeld({ request, response, body, bytes, release });
}

interface HeldAnswer {
  request: Request;
  response: Response;
  body: Buffer;
  /** Sent bytes of the body: 0 for HEAD. */
  bytes: number;
  release: Release | undefined;
}

function sendHeld({ request, response, body, bytes, release }: HeldAnswer): void {
  const timer = setTimeout(() => request.socket.resetAndDestroy(), readDeadlineMs(bytes)).unref();
  releaseWhenRead({ request, response }, bytes, () => {
    clearTimeout(timer);
    release?.();
  });
  if (!response.hasHeader('Content-Type')) response.type('json');
  response.send(body);
}

function budgetOf(response: Response): MemoryBudget | undefined {
  return response.locals['memory'] as MemoryBudget | undefined;
}

function tenantOf(request: Request, response: Response): Tenant {
  const caller = knownCaller(response);
  if (caller) return { kind: 'account', id: caller.user.accountId };
  // By network, as the rate limits: one machine can have all IPv6 addresses of a network.
  return { kind: 'address', id: ipKeyGenerator(request.ip ?? '') };
}
