import { readFile } from 'node:fs/promises';
import { z } from 'zod';
import { TesterBusyError, TesterUnreachableError, TestRefusedError, UnknownRunError } from './errors.ts';
import { resultsSchema, startedSchema, statusSchema, type ResultItem, type TestStatus } from './interface.ts';

/** Identifies a run at the tester; both values together permit reading its results. */
export interface Run {
  ID: string;
  Secret: string;
}

export interface TesterOptions {
  url: URL;
  /** Called for each request, because the token can be replaced. */
  readToken: () => Promise<string>;
  /** Timeout from the request to the last byte of the response, in milliseconds. */
  timeoutMs?: number;
  fetch?: typeof globalThis.fetch;
}

const defaultTimeoutMs = 10_000;
const maxAnswer = 64 * 1024;
/** Maximum size in characters; the results include screenshots in base64. */
const maxResults = 8 * 1024 * 1024;

const refusalSchema = z.object({ error: z.string().max(2000) });

/** A client of the tester. Its errors contain neither a run's Secret nor the token. */
export class TesterClient {
  readonly #options: TesterOptions;

  constructor(options: TesterOptions) {
    this.#options = options;
  }

  /**
   * Starts a run.
   * @param owner whom the run counts for: the tester's queue is fair to tenants, then to their groups
   * @param headers sent with each request to the environment; results show them to nobody
   * @throws TestRefusedError, TesterBusyError, TesterUnreachableError
   */
  run(
    type: string,
    params: Readonly<Record<string, unknown>>,
    owner: { tenant: string; group: string },
    headers: Readonly<Record<string, string>> = {},
  ): Promise<Run> {
    const sent = Object.keys(headers).length > 0 && { headers };
    return this.#ask('POST', 'test/run', startedSchema, { body: { type, params, ...owner, ...sent } });
  }

  /** Reads the status of a run. @throws UnknownRunError, TesterUnreachableError */
  status(run: Run): Promise<TestStatus> {
    return this.#ask('GET', 'test/status', statusSchema, { run });
  }

  /** Reads the results of a finished run. @throws UnknownRunError, TesterUnreachableError */
  async results(run: Run): Promise<ResultItem[]> {
    return (await this.#ask('GET', 'test/results', resultsSchema, { run, maxBytes: maxResults })).result;
  }

  async #ask<T>(
    method: 'GET' | 'POST',
    path: string,
    schema: z.ZodType<T>,
    { run, body, maxBytes = maxAnswer }: { run?: Run; body?: object; maxBytes?: number },
  ): Promise<T> {
    const { status, text } = await this.#send(method, path, run, body, maxBytes);
    if (status === 404 && run) throw new UnknownRunError('the tester no longer has this run. Run the tests again');
    if (status === 422) throw new TestRefusedError(refusalIn(text));
    if (status === 429) throw new TesterBusyError('the queue of the tester is full');
    if (status !== 200 && status !== 202) {
      throw new TesterUnreachableError(`the tester responded with status ${status} to /${path}`, status);
    }
    const { success, data } = schema.safeParse(jsonIn(text));
    if (!success) throw new TesterUnreachableError(`the tester's response to /${path} is not valid`);
    return data;
  }

  async #send(method: string, path: string, run: Run | undefined, body: object | undefined, maxBytes: number) {
    const { url, readToken, timeoutMs = defaultTimeoutMs, fetch = globalThis.fetch } = this.#options;
    const target = new URL(path, url);
    if (run) target.search = new URLSearchParams({ ID: run.ID, Secret: run.Secret }).toString();
    try {
      const response = await fetch(target, {
        method,
        headers: {
          Authorization: `Bearer ${await readToken()}`,
          ...(body && { 'Content-Type': 'application/json' }),
        },
        ...(body && { body: JSON.stringify(body) }),
        redirect: 'error',
        signal: AbortSignal.timeout(timeoutMs),
      });
      return { status: response.status, text: await textWithin(response, maxBytes) };
    } catch (cause) {
      throw new TesterUnreachableError(`the tester at ${url.host} did not respond to /${path}: ${reasonOf(cause)}`);
    }
  }
}

/** Creates the client of the configured tester; undefined if tests are disabled. */
export function testerClient({ url, tokenFile }: TesterAddress): TesterClient | undefined {
  if (url === undefined) return undefined;
  return new TesterClient({ url, readToken: async () => (await readFile(tokenFile, 'utf8')).trim() });
}

export interface TesterAddress {
  url: URL | undefined;
  /** File with the token that the tester and its clients share. */
  tokenFile: string;
}

async function textWithin(response: Response, maxBytes: number): Promise<string> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of (response.body ?? []) as AsyncIterable<Uint8Array>) {
    length += chunk.length;
    if (length > maxBytes) throw new Error(`the tester's response has more than ${maxBytes} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function refusalIn(text: string): string {
  const { data } = refusalSchema.safeParse(jsonIn(text));
  return data?.error ?? 'no reason was given';
}

function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** Returns why a fetch failed, from the cause of its error. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? error.cause.message : error.message;
}
