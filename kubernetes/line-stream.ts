import type { IncomingMessage } from 'node:http';
import { UnreachableError } from './api-error.ts';
import { DEFAULT_TIMEOUT_MS, type HttpRequest, type HttpTransport } from './http-transport.ts';
import { readLines } from './lines.ts';

interface StreamOptions {
  query: NonNullable<HttpRequest['query']>;
  accept?: string | undefined;
  signal?: AbortSignal | undefined;
  totalMs?: number | undefined;
  idleMs?: number | undefined;
  maxLineBytes?: number | undefined;
  wholeLinesOnly?: boolean | undefined;
}

/**
 * Yields the response's lines until it ends or the signal is aborted.
 * @throws what HttpTransport.stream() throws; UnreachableError when the stream breaks, sends no data for too long, or
 * does not end
 */
export async function* streamLines(
  transport: Pick<HttpTransport, 'stream'>,
  path: string,
  options: StreamOptions,
): AsyncGenerator<string> {
  const { query, accept, signal, totalMs, idleMs, maxLineBytes, wholeLinesOnly } = options;
  if (signal?.aborted) return;
  const response = await transport
    .stream({ method: 'GET', path, query, accept, timeoutMs: DEFAULT_TIMEOUT_MS, signal })
    .catch((error: unknown) => {
      if (signal?.aborted) return undefined;
      throw error;
    });
  if (!response) return;
  const total = totalMs === undefined ? undefined : setTimeout(() => response.destroy(endless(totalMs)), totalMs);
  try {
    yield* readLines(idleMs === undefined ? response : untilSilent(response, idleMs), maxLineBytes, wholeLinesOnly);
  } catch (error) {
    if (signal?.aborted) return;
    const why = error instanceof Error ? error.message : String(error);
    throw new UnreachableError(`GET ${path}: the stream broke: ${why}`, { cause: error });
  } finally {
    clearTimeout(total);
    response.destroy();
  }
}

function endless(ms: number): Error {
  return new Error(`it did not end within ${ms / 1000} s`);
}

/** Yields chunks; fails when none arrives for `ms`. Time that the reader takes does not count. */
async function* untilSilent(response: IncomingMessage, ms: number): AsyncGenerator<Buffer> {
  const chunks = response[Symbol.asyncIterator]() as AsyncIterator<Buffer>;
  for (;;) {
    const timer = setTimeout(() => response.destroy(new Error(`no data for ${ms / 1000} s`)), ms);
    const next = await chunks.next().finally(() => clearTimeout(timer));
    if (next.done) return;
    yield next.value;
  }
}
