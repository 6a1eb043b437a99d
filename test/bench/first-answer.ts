import { setTimeout as delay } from 'node:timers/promises';
import { send } from '../client/local-http.ts';

/** Requests an address every 20 ms until the response contains the text. Nothing may listen at it yet. */
export async function firstAnswer(url: string, text: string, seconds = 60): Promise<void> {
  const end = Date.now() + seconds * 1000;
  for (;;) {
    const answer = await send(url).catch(unconnected);
    if (typeof answer === 'object' && answer.status === 200 && answer.text.includes(text)) return;
    if (Date.now() > end) {
      const last = typeof answer === 'object' ? answer.status : answer;
      throw new Error(`${url} did not answer ${JSON.stringify(text)} within ${seconds} s: ${last}`);
    }
    await delay(20);
  }
}

/** Returns the code of a refused or closed connection; throws other errors. */
function unconnected(error: NodeJS.ErrnoException): string {
  if (error.code === 'ECONNREFUSED' || error.code === 'ECONNRESET') return error.code;
  throw error;
}
