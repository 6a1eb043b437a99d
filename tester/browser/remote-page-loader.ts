import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import { CouldNotRun } from '../test-types/kind.ts';
import { type PageLoader, type PageSnapshot, snapshotSchema, type Visit } from './page-snapshot.ts';

/** Delay between attempts while the browsers' process starts, in milliseconds. */
const retryMs = 500;
const maxBytes = 8 * 1024 * 1024;

const answerSchema = z.union([
  z.strictObject({ snapshot: snapshotSchema }),
  z.strictObject({ error: z.string().max(1000) }),
]);

/** Returns a loader that sends requests to the process that runs browsers (server.ts). */
export function remotePageLoader(browserUrl: string): PageLoader {
  return async ({ url, path, text, width, height, headers }, signal) => {
    const visit: Visit = { url, path, width, height, ...(headers && { headers }), ...(text !== undefined && { text }) };
    for (;;) {
      const response = await send(new URL('/look', browserUrl), visit, signal);
      if (response !== undefined) return snapshotOf(response);
      await delay(retryMs, undefined, { signal });
    }
  };
}

/** Returns undefined while nothing listens. */
async function send(url: URL, visit: Visit, signal: AbortSignal): Promise<Response | undefined> {
  const headers = { 'content-type': 'application/json' };
  try {
    return await fetch(url, { method: 'POST', headers, body: JSON.stringify(visit), signal, redirect: 'error' });
  } catch (error) {
    signal.throwIfAborted();
    const cause = error instanceof Error ? (error.cause as NodeJS.ErrnoException | undefined) : undefined;
    if (cause?.code === 'ECONNREFUSED') return undefined;
    throw new CouldNotRun('the browser ended while it loaded the page. Run the tests again', { cause: error });
  }
}

/** Parses the response within bounds: the page may have compromised the browser. */
async function snapshotOf(response: Response): Promise<PageSnapshot> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  try {
    for await (const chunk of response.body ?? []) {
      bytes += (chunk as Uint8Array).length;
      if (bytes > maxBytes) throw new CouldNotRun('the response of the browser is too large. Run the tests again');
      chunks.push(chunk as Uint8Array);
    }
  } catch (error) {
    if (error instanceof CouldNotRun) throw error;
    throw new CouldNotRun('the browser ended while it loaded the page. Run the tests again', { cause: error });
  }
  const answer = answerSchema.safeParse(jsonOf(Buffer.concat(chunks).toString()));
  if (!answer.success) throw new CouldNotRun('the response of the browser is not valid. Run the tests again');
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
