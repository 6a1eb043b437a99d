import express, { type Express, type Request, type RequestHandler, type Response } from 'express';
import type { z } from 'zod';
import { requireAccess, type Access, type Needs } from '../auth/access.ts';
import { callerOf, type Caller } from '../auth/caller.ts';
import { holdBody, sendJson } from '../limits/held-memory.ts';
import { BEYOND_BOUNDS, OPEN_BODY_BYTES, beyondJsonBounds } from '../limits/json-bounds.ts';
import { MethodNotAllowed } from './errors.ts';
import { parse } from './parse.ts';

/** The names in braces of a path: `/api/group/{groupID}` has `groupID`. */
type ParameterNames<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? Name | ParameterNames<Rest>
  : never;
type PathParameters<Path extends string> = Record<ParameterNames<Path>, string>;

/** What an endpoint takes and answers. The OpenAPI document is made of it, and every unit test holds answers to it. */
export interface Declaration<Path extends string = string, Answer extends z.ZodType = z.ZodType> {
  method: 'get' | 'post' | 'put' | 'patch' | 'delete';
  /** As the contract writes it: `/api/group/{groupID}`. */
  path: Path;
  summary: string;
  /** What else there is to know, in Markdown. */
  description?: string;
  query?: z.ZodType;
  body?: z.ZodType;
  /** When all went well; 200 if absent. */
  status?: number;
  answer: Answer;
  /** `application/json` if absent. */
  mediaType?: string;
  /** Statuses of this endpoint beside `status` and those that all have (openapi/errors.ts), and when they come. */
  also?: Readonly<Record<number, string>>;
}

/** Which tokens may. */
interface Permission {
  /** A read-only token may not. */
  writes: boolean;
  /** The access that a token needs to write; `administer` if absent, so that what is forgotten is refused. */
  needs?: Exclude<Access, 'read'>;
  /** It concerns the whole account: a token that is restricted to groups or repositories may not. */
  isOfAccount?: boolean;
  /** An API token may not: what it makes lasts longer than a token must. */
  needsLogin?: boolean;
}

/** A declaration, and what serves it. */
export interface Endpoint extends Declaration, Permission {
  /** Nobody needs a token for it. */
  isOpen: boolean;
  handle: RequestHandler | RequestHandler[];
}

export interface Call<Target, Body, Query> {
  caller: Caller;
  target: Target;
  body: Body;
  query: Query;
  request: Request;
  /** For when it closes: what goes out by it is what `run` gives. */
  response: Response;
}

interface Found<Path extends string, Target> extends Permission {
  /** What the path names, as far as the caller may see it. @throws NotFound */
  find: (caller: Caller, parameters: PathParameters<Path>) => Target;
}

interface Definition<Path extends string, Target, Body, Query, Answer extends z.ZodType>
  extends Declaration<Path, Answer>, Found<Path, Target> {
  body?: z.ZodType<Body>;
  query?: z.ZodType<Query>;
  /** @returns the answer's body */
  run: (call: Call<Target, Body, Query>) => z.output<Answer> | Promise<z.output<Answer>>;
}

interface StreamDefinition<Path extends string, Target> extends Declaration<Path>, Found<Path, Target> {
  /** Answers by itself: the request may have become a WebSocket. */
  serve: (
    call: Pick<Call<Target, undefined, undefined>, 'caller' | 'target' | 'request' | 'response'>,
  ) => Promise<void>;
}

interface OpenDefinition<Path extends string, Body, Answer extends z.ZodType> extends Declaration<Path, Answer> {
  body: z.ZodType<Body>;
  run: (call: { body: Body }) => Promise<z.output<Answer>>;
}

const limitBytes = 1024 * 1024;
// Whatever the content type says: bodies are JSON (contract section 4). What a browser could send across origins
// because of that is refused by its Origin.
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
 * An endpoint with the checks in the order that every request is held to (authentication came before): is it
 * visible, may this token do it, does it parse.
 */
export function endpoint<Path extends string, Target, Answer extends z.ZodType, Body = undefined, Query = undefined>(
  definition: Definition<Path, Target, Body, Query, Answer>,
): Endpoint {
  const { find, run, ...declaration } = definition;
  const { status = 200, writes } = declaration;
  const handle: RequestHandler = async (request, response) => {
    const { caller, target } = admit({ ...declaration, find }, request, response);
    const body = definition.body ? await parseBody(request, response, definition.body, jsonParser) : undefined;
    const query = definition.query ? parse(definition.query, request.query, 'the query') : undefined;
    const answer = await run({ caller, target, body: body as Body, query: query as Query, request, response });
    response.status(status);
    sendJson(request, response, answer, !writes);
  };
  return { ...declaration, isOpen: false, handle };
}

/** An endpoint whose answer is no JSON of a known length, such as a log. */
export function streamEndpoint<Path extends string, Target>(definition: StreamDefinition<Path, Target>): Endpoint {
  const { find, serve, ...declaration } = definition;
  const handle: RequestHandler = async (request, response) => {
    await serve({ ...admit({ ...declaration, find }, request, response), request, response });
  };
  return { ...declaration, isOpen: false, handle };
}

/** The one place where every endpoint that needs a token finds out whether this caller may. */
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

/** An endpoint that nobody needs a token for. */
export function openEndpoint<Path extends string, Body, Answer extends z.ZodType>(
  definition: OpenDefinition<Path, Body, Answer>,
): Endpoint {
  const { run, ...declaration } = definition;
  const handle: RequestHandler = async (request, response) => {
    const body = await parseBody(request, response, definition.body, openJsonParser);
    const answer = await run({ body });
    response.status(declaration.status ?? 200);
    sendJson(request, response, answer, false);
  };
  return { ...declaration, isOpen: true, writes: true, handle };
}

/** An endpoint that names nothing: `find` of what is there for everybody who is logged in. */
export function nothing(): undefined {
  return undefined;
}

/** Serves the endpoints, in their order. */
export function mount(app: Express, endpoints: readonly Endpoint[]): void {
  for (const declared of endpoints) {
    const named: RequestHandler = (_request, response, next) => {
      response.locals['endpoint'] = declared;
      next();
    };
    app[declared.method](routeOf(declared), named, ...[declared.handle].flat());
  }
}

/** Answers 405 to what the endpoints left at their paths; after them all, and after authentication. */
export function refuseOtherMethods(app: Express, endpoints: readonly Endpoint[]): void {
  for (const [route, there] of Map.groupBy(endpoints, routeOf)) {
    const methods = there.flatMap(({ method }) => (method === 'get' ? ['GET', 'HEAD'] : [method.toUpperCase()]));
    app.all(route, () => {
      throw new MethodNotAllowed(methods);
    });
  }
}

/** As express writes it: `/api/group/:groupID`. */
function routeOf({ path }: Endpoint): string {
  return path.replace(/\{(\w+)\}/g, ':$1');
}

/** Which endpoint answers; undefined where none does, as for a wrong path and before authentication. */
export function endpointOf(response: Pick<Response, 'locals'>): Endpoint | undefined {
  return response.locals['endpoint'] as Endpoint | undefined;
}

/** Reads the body, which may be absent: then it is `{}`. */
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
  // What the schema does not name need not stay in memory for as long as the request takes.
  request.body = undefined;
  return parse(schema, body === undefined ? {} : body, 'the body');
}
