import express, { type ErrorRequestHandler, type Express, type RequestHandler } from 'express';
import type { Logger } from 'pino';
import { z } from 'zod';
import { faultWords } from '../../process/fault-words.ts';
import { isSameText } from '../../process/same-text.ts';
import type { Environments } from '../network/environments.ts';
import { NotReady, QueueFull, type Runs } from '../runs/runs.ts';
import type { State } from '../runs/run.ts';
import { cut } from '../test-types/items.ts';
import { type AnyTest, WrongParams } from '../test-types/test.ts';

export interface AppOptions {
  /** Returns the bearer token that callers must send; read for each request, because it can be replaced. */
  readToken: () => string;
  tests: ReadonlyMap<string, AnyTest>;
  environments: Environments;
  runs: Pick<Runs, 'start' | 'status' | 'result'>;
  logger: Logger;
}

/** A response with this status and message. */
class Refused extends Error {
  readonly status: number;
  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

const typeSchema = z.object({ type: z.string() });
const startSchema = z.object({
  params: z.looseObject({ url: z.string() }),
  /** The group that the run counts for; hosts with a hash do not contain it. */
  group: z.string().min(1).max(100).optional(),
  tenant: z.string().min(1).max(200).optional(),
  /** Sent with each request to the environment; unlike params, neither results nor errors show them. */
  headers: z.record(z.string().regex(/^[a-z0-9-]{1,64}$/), z.string().regex(/^[\x21-\x7e]{1,2048}$/)).optional(),
});
const whichSchema = z.object({ ID: z.string().max(200), Secret: z.string().max(200) });
type Which = z.infer<typeof whichSchema>;

/** Callers see a queued run as running. */
const shownState: Record<State, 'running' | 'failed' | 'finished'> = {
  queued: 'running',
  running: 'running',
  failed: 'failed',
  finished: 'finished',
};

/** Creates the tester's HTTP interface. */
export function createApp({ readToken, tests, environments, runs, logger }: AppOptions): Express {
  const authorized: RequestHandler = ({ headers }, response, next) => {
    const { authorization = '' } = headers;
    const [scheme, given] = authorization.split(' ');
    if (scheme?.toLowerCase() === 'bearer' && given !== undefined && isSameText(given, readToken())) return next();
    response.setHeader('WWW-Authenticate', 'Bearer');
    next(
      authorization === ''
        ? new Refused(400, 'no authentication found. Send Authorization: Bearer TOKEN')
        : new Refused(401, 'the token is not valid. Send Authorization: Bearer TOKEN'),
    );
  };

  const knownRun = async (which: Which) => {
    const status = await runs.status(which.ID, which.Secret);
    if (status === undefined)
      throw new Refused(
        404,
        'there is no run with this ID and Secret, or its results have expired. Start the test again',
      );
    return status;
  };

  const app = express();
  app.disable('x-powered-by');
  app.set('etag', false);
  app.use((_request, response, next) => {
    response.setHeader('Cache-Control', 'no-store');
    next();
  });
  // Parses every body as JSON, whatever its content type, as the API does.
  app.use(authorized, express.json({ limit: '32kb', strict: false, type: () => true }));

  app.get('/test/info', (_request, response) => {
    const reported = [...tests.values()].map(({ type, description, params, images }) => ({
      type,
      description,
      params,
      images,
    }));
    response.json({ tests: reported });
  });

  app.post('/test/run', async (request, response) => {
    const body: unknown = request.body === undefined ? {} : request.body;
    // The type comes first: what params must be depends on it.
    const { type } = parsed(typeSchema, body);
    const test = tests.get(type);
    if (test === undefined)
      throw new Refused(422, `there is no test type ${cut(type, 100)}. Use one of ${[...tests.keys()].join(', ')}`);
    const { params, group, tenant, headers } = parsed(startSchema, body);
    const { url } = test.check(params);
    if (!environments.has(url))
      throw new Refused(422, 'params.url is not the address of an environment. Use the weburl or an alias of one');
    const { id, secret } = await runs.start(type, params, url, { group, tenant }, headers);
    response.status(202).json({ type, params, ID: id, Secret: secret });
  });

  app.get('/test/status', async (request, response) => {
    const which = parsed(whichSchema, request.query);
    const { state, message } = await knownRun(which);
    response.json({ ...which, Status: shownState[state], ...(message !== undefined && { message }) });
  });

  app.get('/test/results', async (request, response) => {
    const which = parsed(whichSchema, request.query);
    const { state } = await knownRun(which);
    if (state === 'failed')
      throw new Refused(409, 'the test could not run, so there are no results. GET /test/status says why');
    if (state !== 'finished') throw new Refused(409, 'the test has not finished yet. Try again later');
    response.json({ ...which, result: await runs.result(which.ID) });
  });

  app.use((_request, _response, next) =>
    next(new Refused(404, 'there is no such endpoint. Use /test/info, /test/run, /test/status or /test/results')),
  );
  app.use(errorResponse(logger));
  return app;
}

function parsed<T>(schema: z.ZodType<T>, given: unknown): T {
  const { data, error } = schema.safeParse(given, { error: faultWords });
  if (error) throw new Refused(422, error.issues.map(faultOf).join('; '));
  return data;
}

function faultOf({ path, message }: z.core.$ZodIssue): string {
  return path.length === 0 ? `the body ${message}` : `${path.join('.')}: ${message}`;
}

const parserError = z.object({ status: z.int().min(400).max(499), expose: z.literal(true), message: z.string() });

function errorResponse(logger: Logger): ErrorRequestHandler {
  return (error: unknown, request, response, next) => {
    if (response.headersSent) return next(error);
    const { status, message } = answerTo(error);
    if (status === 503) logger.warn({ err: error, path: request.path }, 'a request could not be served');
    response.status(status).json({ error: message });
  };
}

function answerTo(error: unknown): { status: number; message: string } {
  if (error instanceof Refused) return error;
  if (error instanceof WrongParams) return { status: 422, message: error.message };
  if (error instanceof QueueFull) return { status: 429, message: error.message };
  if (error instanceof NotReady) return { status: 503, message: error.message };
  const ofParser = parserError.safeParse(error);
  if (ofParser.success) {
    const { status, message } = ofParser.data;
    // Answers a body that is not valid JSON with 422: 400 means that there is no authentication.
    return { status: status === 400 ? 422 : status, message: cut(message, 1000) };
  }
  return { status: 503, message: 'the tester cannot handle the request now. Its log contains the reason' };
}
