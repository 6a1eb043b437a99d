import { setTimeout as delay } from 'node:timers/promises';
import { send } from '../client/local-http.ts';

/** Requests an address every 20 ms until the response contains the text. */
export async function firstAnswer(url: string, text: string, seconds = 60): Promise<void> {
  const end = Date.now() + seconds * 1000;
  for (;;) {
    const { status, text: answer } = await send(url);
    if (status === 200 && answer.includes(text)) return;
    if (Date.now() > end)
      throw new Error(`${url} did not answer ${JSON.stringify(text)} within ${seconds} s: ${status}`);
    await delay(20);
  }
}
