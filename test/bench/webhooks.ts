import { randomUUID } from 'node:crypto';
import { githubDelivery } from '../client/github-delivery.ts';
import { send, type RequestOptions } from '../client/local-http.ts';
import { webhookOf } from '../client/webhook-of.ts';
import { withCleanUp } from '../support/clean-up.ts';
import type { Progress } from '../support/progress.ts';
import { startHarness } from '../end-to-end/harness.ts';
import { percentile, type Figure } from './measure.ts';

const rounds = 3;
const deliveries = 200;
const atOnce = 20;

/**
 * Measures many concurrent deliveries of a Git host, each signed and for a different push, against requests that the
 * API refuses immediately.
 */
export async function benchWebhooks(progress: Progress): Promise<Figure[]> {
  const harness = await startHarness('bench');
  const taken: number[][] = [];
  const refused: number[][] = [];
  const work = async () => {
    const repository = await harness.addRepository('shop', await harness.push('shop', 'main'));
    const webhook = await webhookOf(harness.client, repository);
    const push = () => githubDelivery(webhook.secret, 'push', { ref: 'refs/heads/main', delivery: randomUUID() });
    const groups = `${harness.connection.apiUrl}/api/groups`;
    for (let round = 1; round <= rounds; round++) {
      await progress.step(`round ${round} of ${rounds}`, async () => {
        refused.push(await timesOf(groups, () => ({}), 400));
        taken.push(await timesOf(webhook.url, push, 202));
      });
    }
  };
  await withCleanUp(work, () => progress.step('clean up', () => harness.removeAndWait()));
  const figure = (share: number): Figure => ({
    name: `${deliveries} deliveries, ${atOnce} at once: p${share * 100} of the answers`,
    unit: 'ms',
    samples: taken.map((times) => percentile(times, share)),
    baseline: { name: 'requests without a token', samples: refused.map((times) => percentile(times, share)) },
    target: '≤ 100 ms',
  });
  return [figure(0.5), figure(0.99)];
}

/** Returns the milliseconds of each response; throws if one has another status. */
async function timesOf(url: string, request: () => RequestOptions, status: number): Promise<number[]> {
  const times: number[] = [];
  let left = deliveries;
  const sendAll = async () => {
    while (left-- > 0) {
      const options = request();
      const start = performance.now();
      const answer = await send(url, options);
      times.push(performance.now() - start);
      if (answer.status !== status) throw new Error(`${url}: ${answer.status} ${answer.text}`);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, sendAll));
  return times;
}
