import express, { type Express, type Request, type RequestHandler, type Response } from 'express';
import type { z } from 'zod';
import { requireAccess, type Needs } from '../auth/access.ts';
import type { Access } from '../user-records/token-scopes.ts';
import { callerOf, type Caller } from '../auth/caller.ts';
import { holdBody, sendJson } from '../limits/held-memory.ts';
import { BEYOND_BOUNDS, OPEN_BODY_BYTES, beyondJsonBounds } from '../limits/json-bounds.ts';
import { MethodNotAllowed } from '../shared/errors.ts';
import { parse } from './parse.ts';

/** Names of a path's parameters: `/api/group/{groupID}` has `groupID`. */
type ParameterNames<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? Name | ParameterNames<Rest>
  : never;
type PathParameters<Path extends string> = Record<ParameterNames<Path>, string>;

/**
 * The input and output of an endpoint. The OpenAPI document is generated from it, and unit tests verify responses
 * against it.
 */
export interface Declaration<Path extends string = string, Answer extends z.ZodType = z.ZodType> {
  method: 'get' | 'post' | 'put' | 'patch' | 'delete';
  /** In the contract's notation: `/api/group/{groupID}`. */
  path: Path;
  summary: string;
  /** Additional description in Markdown. */
  description?: string;
  query?: z.ZodType;
  body?: z.ZodType;
  /** Status of success; defaults to 200. */
  status?: number;
  answer: Answer;
  /** Defaults to `application/json`. */
  mediaType?: string;
  /**
   * Further statuses of this endpoint, with their causes, in addition to `status` and the common ones
   * (openapi/errors.ts).
   */
  also?: Readonly<Record<number, string>>;
}

/** Permissions that a token needs. */
interface Permission {
  /** Whether read-only tokens are refused. */
  writes: boolean;
  /** Access that a token needs to write; defaults to `administer`, so that a forgotten declaration refuses. */
  needs?: Exclude<Access, 'read'>;
  /** Whether the request concerns the whole account, which tokens restricted to groups or repositories cannot do. */
  isOfAccount?: boolean;
  /** The request needs a login: what it creates can outlive an API token. */
  needsLogin?: boolean;
}

/** A declaration with its handler. */
export interface Endpoint extends Declaration, Permission {
  /** Whether the endpoint needs no token. */
  isOpen: boolean;
  handle: RequestHandler | RequestHandler[];
}

export interface Call<Target, Body, Query> {
  caller: Caller;
  target: Target;
  body: Body;
  query: Query;
  request: Request;
  /** Only for its close event; the body is what `run` returns. */
  response: Response;
}

interface Found<Path extends string, Target> extends Permission {
  /** Finds what the path names, if the caller can see it. @throws NotFound */
  find: (caller: Caller, parameters: PathParameters<Path>) => Target;
}

interface Definition<Path extends string, Target, Body, Query, Answer extends z.ZodType>
  extends Declaration<Path, Answer>, Found<Path, Target> {
  /** Checks the caller's role, before the request is read. @throws Forbidden */
  permit?: (caller: Caller, target: Target) => void;
  body?: z.ZodType<Body>;
  query?: z.ZodType<Query>;
  /** @returns the response body */
  run: (call: Call<Target, Body, Query>) => z.output<Answer> | Promise<z.output<Answer>>;
}

interface StreamDefinition<Path extends string, Target> extends Declaration<Path>, Found<Path, Target> {
  /** Responds itself: the request may have become a WebSocket. */
  serve: (
    call: Pick<Call<Target, undefined, undefined>, 'caller' | 'target' | 'request' | 'response'>,
  ) => Promise<void>;
}

interface OpenDefinition<Path extends string, Body, Answer extends z.ZodType> extends Declaration<Path, Answer> {
  body?: z.ZodType<Body>;
  run: (call: { body: Body; request: Request; response: Response }) => z.output<Answer> | Promise<z.output<Answer>>;
}

const limitBytes = 1024 * 1024;
// Parses every body as JSON, whatever its content type. Requests that browsers could therefore send across origins are
// refused by their Origin.
const jsonParser = jsonParserOf(limitBytes);
const openJsonParser = jsonParserOf(OPEN_BODY_BYTES);

function jsonParserOf(limit: number): { limit: number; handle: RequestHandler } {
  const verify = (_request: unknown, _response: unknown, bytes: Buffer, encoding: string) => {
    const beyond = beyondJsonBounds(bytes, encoding === 'utf-8');
    if (beyond !== undefined) throw Object.assign(new Error(beyond), { type: BEYOND_BOUNDS });
  };
  return { limit, handle: express.json({ limit, strict: false, type: () => true, verify }) };
}

/**
 * Returns an endpoint that checks, after authentication and in this order, visibility, the token's permission, the
 * caller's role, and the input.
 */
export function endpoint<Path extends string, Target, Answer extends z.ZodType, Body = undefined, Query = undefined>(
  definition: Definition<Path, Target, Body, Query, Answer>,
): Endpoint {
  const { find, permit, run, ...declaration } = definition;
  const { status = 200, writes } = declaration;
  const handle: RequestHandler = async (request, response) => {
    const { caller, target } = admit({ ...declaration, find }, request, response);
    permit?.(caller, target);
    const body = definition.body ? await parseBody(request, response, definition.body, jsonParser) : undefined;
    const query = definition.query ? parse(definition.query, request.query, 'the query') : undefined;
    const answer = await run({ caller, target, body: body as Body, query: query as Query, request, response });
    response.status(status);
    sendJson(request, response, answer, !writes);
  };
  return { ...declaration, isOpen: false, handle };
}

/** Returns an endpoint whose response is not JSON of a known length, such as a log. */
export function streamEndpoint<Path extends string, Target>(definition: StreamDefinition<Path, Target>): Endpoint {
  const { find, serve, ...declaration } = definition;
  const handle: RequestHandler = async (request, response) => {
    await serve({ ...admit({ ...declaration, find }, request, response), request, response });
  };
  return { ...declaration, isOpen: false, handle };
}

/** Checks the caller's permission; the only place for all endpoints that need a token. */
function admit<Path extends string, Target>(
  definition: Found<Path, Target>,
  request: Request,
  response: Response,
): { caller: Caller; target: Target } {
  const caller = callerOf(response);
  const target = definition.find(caller, request.params as PathParameters<Path>);
  requireAccess(caller, needsOf(definition));
  return { caller, target };
}

export function needsOf({ writes, needs = 'administer', isOfAccount = false, needsLogin = false }: Permission): Needs {
  return { access: writes ? needs : 'read', isOfAccount, login: needsLogin };
}

/** Returns an endpoint that needs no token. */
export function openEndpoint<Path extends string, Answer extends z.ZodType, Body = undefined>(
  definition: OpenDefinition<Path, Body, Answer>,
): Endpoint {
  const { run, ...declaration } = definition;
  const handle: RequestHandler = async (request, response) => {
    const body = definition.body ? await parseBody(request, response, definition.body, openJsonParser) : undefined;
    const answer = await run({ body: body as Body, request, response });
    response.status(declaration.status ?? 200);
    sendJson(request, response, answer, false);
  };
  return { ...declaration, isOpen: true, writes: true, handle };
}

/** The `find` of an endpoint that names nothing. */
export function nothing(): undefined {
  return undefined;
}

/** Registers the endpoints, in order. */
export function mount(app: Express, endpoints: readonly Endpoint[]): void {
  for (const declared of endpoints) {
    const named: RequestHandler = (_request, response, next) => {
      response.locals['endpoint'] = declared;
      next();
    };
    app[declared.method](routeOf(declared), named, ...[declared.handle].flat());
  }
}

/** Responds with 405 to other methods of the endpoints' paths; registered last, after authentication. */
export function refuseOtherMethods(app: Express, endpoints: readonly Endpoint[]): void {
  for (const [route, there] of Map.groupBy(endpoints, routeOf)) {
    const methods = there.flatMap(({ method }) => (method === 'get' ? ['GET', 'HEAD'] : [method.toUpperCase()]));
    // `app.all` would add a handler for each of Node's 34 methods, on each path.
    app.route(route).all(() => {
      throw new MethodNotAllowed(methods);
    });
  }
}

/** Returns the path in express's notation: `/api/group/:groupID`. */
function routeOf({ path }: Endpoint): string {
  return path.replace(/\{(\w+)\}/g, ':$1');
}

/** Returns the endpoint of a response; undefined for a wrong path and before authentication. */
export function endpointOf(response: Pick<Response, 'locals'>): Endpoint | undefined {
  return response.locals['endpoint'] as Endpoint | undefined;
}

/** Reads the body; an absent one is `{}`. */
async function parseBody<T>(
  request: Request,
  response: Response,
  schema: z.ZodType<T>,
  { limit, handle }: typeof jsonParser,
): Promise<T> {
  holdBody(request, response, limit);
  await new Promise<void>((resolve, reject) => {
    void handle(request, response, (error: unknown) => {
      if (error === undefined) resolve();
      else reject(error instanceof Error ? error : new Error('the body parser failed', { cause: error }));
    });
  });
  const body: unknown = request.body;
  // Unknown fields need not stay in memory during the request.
  request.body = undefined;
  return parse(schema, body === undefined ? {} : body, 'the body');
}
