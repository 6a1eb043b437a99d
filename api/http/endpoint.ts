import express, { type Request, type RequestHandler, type Response } from 'express';
import type { z } from 'zod';
import { callerOf, type Caller } from '../auth/caller.ts';
import { Forbidden } from './errors.ts';
import { parse } from './parse.ts';

export interface Call<Target, Body, Query> {
  caller: Caller;
  target: Target;
  body: Body;
  query: Query;
  request: Request;
}

export interface Answer {
  status: 200 | 201 | 202;
  body: object;
}

export interface Endpoint<Target, Body, Query> {
  /** What the path names, as far as the caller may see it. @throws NotFound */
  find: (caller: Caller, id: string) => Target;
  /** A read-only token may not. */
  writes: boolean;
  body?: z.ZodType<Body>;
  query?: z.ZodType<Query>;
  run: (call: Call<Target, Body, Query>) => Answer | Promise<Answer>;
}

const limitBytes = 1024 * 1024;
// Whatever the content type says: bodies are JSON (contract section 4). What a browser could send across origins
// because of that is refused by its Origin.
const jsonParser: RequestHandler = express.json({ limit: limitBytes, strict: false, type: () => true });

/**
 * One endpoint, with the checks in the order that every request is held to (authentication came before): is it
 * visible, may a read-only token do it, does it parse.
 */
export function endpoint<Target, Body = undefined, Query = undefined>(
  definition: Endpoint<Target, Body, Query>,
): RequestHandler {
  return async (request, response) => {
    const caller = callerOf(response);
    const id = request.params['id'];
    const target = definition.find(caller, typeof id === 'string' ? id : '');
    if (definition.writes && caller.readOnly) throw new Forbidden('a read-only token may not change anything');
    const body = definition.body ? await parseBody(request, response, definition.body) : undefined;
    const query = definition.query ? parse(definition.query, request.query, 'the query') : undefined;
    send(response, await definition.run({ caller, target, body: body as Body, query: query as Query, request }));
  };
}

/** An endpoint that names nothing: `find` of what is there for everybody who is logged in. */
export function nothing(): undefined {
  return undefined;
}

/** Reads the body, which may be absent: then it is `{}`. */
export async function parseBody<T>(request: Request, response: Response, schema: z.ZodType<T>): Promise<T> {
  await new Promise<void>((resolve, reject) => {
    void jsonParser(request, response, (error: unknown) => {
      if (error === undefined) resolve();
      else reject(error instanceof Error ? error : new Error('the body parser failed', { cause: error }));
    });
  });
  const body: unknown = request.body;
  return parse(schema, body === undefined ? {} : body, 'the body');
}

export function send(response: Response, { status, body }: Answer): void {
  response.status(status).json(body);
}
