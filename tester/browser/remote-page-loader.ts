import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import { CouldNotRun } from '../test-types/kind.ts';
import { type PageLoader, type PageSnapshot, snapshotSchema, type Visit } from './page-snapshot.ts';

/** While the browsers' process starts, or starts again. */
const retryMs = 500;
const maxBytes = 8 * 1024 * 1024;

const answerSchema = z.union([
  z.strictObject({ snapshot: snapshotSchema }),
  z.strictObject({ error: z.string().max(1000) }),
]);

/** Asks the process that runs browsers (server.ts beside this). */
export function remotePageLoader(browserUrl: string): PageLoader {
  return async ({ url, path, text, width, height }, signal) => {
    const visit: Visit = { url, path, width, height, ...(text !== undefined && { text }) };
    for (;;) {
      const response = await send(new URL('/look', browserUrl), visit, signal);
      if (response !== undefined) return snapshotOf(response);
      await delay(retryMs, undefined, { signal });
    }
  };
}

/** undefined while nobody listens. */
async function send(url: URL, visit: Visit, signal: AbortSignal): Promise<Response | undefined> {
  const headers = { 'content-type': 'application/json' };
  try {
    return await fetch(url, { method: 'POST', headers, body: JSON.stringify(visit), signal, redirect: 'error' });
  } catch (error) {
    signal.throwIfAborted();
    const cause = error instanceof Error ? (error.cause as NodeJS.ErrnoException | undefined) : undefined;
    if (cause?.code === 'ECONNREFUSED') return undefined;
    throw new CouldNotRun('the browser ended while it had the page', { cause: error });
  }
}

/** A page may have taken the browser over: its answer is bounded, and parsed. */
async function snapshotOf(response: Response): Promise<PageSnapshot> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  try {
    for await (const chunk of response.body ?? []) {
      bytes += (chunk as Uint8Array).length;
      if (bytes > maxBytes) throw new CouldNotRun('the browser said more than a page can show');
      chunks.push(chunk as Uint8Array);
    }
  } catch (error) {
    if (error instanceof CouldNotRun) throw error;
    throw new CouldNotRun('the browser ended while it had the page', { cause: error });
  }
  const answer = answerSchema.safeParse(jsonOf(Buffer.concat(chunks).toString()));
  if (!answer.success) throw new CouldNotRun('the browser did not say what it saw');
  if ('error' in answer.data) throw new CouldNotRun(answer.data.error);
  return answer.data.snapshot;
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
