import { z } from 'zod';
import { send } from '../client/local-http.ts';
import { waitFor } from '../support/wait-for.ts';
import { conditionOf, namespaceOf, pageWith, startHarness, type Harness } from './harness.ts';
import { sleepyShop } from './sleepy-shop.ts';

/** Headers of a person's visit. */
export const BROWSER = {
  accept: 'text/html,application/xhtml+xml',
  'sec-fetch-mode': 'navigate',
  'user-agent': 'Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0',
};

const objectsSchema = z.object({
  items: z.array(z.object({ metadata: z.object({ name: z.string() }), spec: z.looseObject({}).optional() })),
});

/** A built environment of the sleepy shop. */
export class SleepyEnvironment {
  readonly harness: Harness;
  readonly repository: string;
  readonly id: string;
  readonly weburl: string;

  private constructor(harness: Harness, repository: string, id: string, weburl: string) {
    this.harness = harness;
    this.repository = repository;
    this.id = id;
    this.weburl = weburl;
  }

  static async start(purpose: string): Promise<SleepyEnvironment> {
    const harness = await startHarness(purpose);
    const repository = await harness.addRepository('shop', await harness.push('shop', 'main', sleepyShop('Shop')));
    const id = await harness.spawn(repository, 'main');
    const { weburl } = await harness.built(id);
    await pageWith(weburl, 'Shop');
    return new SleepyEnvironment(harness, repository, id, weburl);
  }

  /** Returns the names of the objects of a kind in the environment's namespace. */
  async names(kind: string): Promise<string[]> {
    const text = await this.harness.kubectl(['get', kind, '--namespace', namespaceOf(this.id), '--output=json']);
    return objectsSchema.parse(JSON.parse(text)).items.map(({ metadata }) => metadata.name);
  }

  /** Sends a request to an action of the environment. */
  post(action: string) {
    return this.harness.client.send('POST', `/api/environment/${this.id}/${action}`);
  }

  /** Puts the environment to sleep, and waits until its pods have ended. */
  async sleep(): Promise<void> {
    const { status, text } = await this.post('sleep');
    if (status !== 202) throw new Error(`POST sleep: ${status} ${text}`);
    await this.harness.client.waitForEnvironment(this.id, (one) => conditionOf(one, 'Asleep')?.status === 'True', 60);
    const running = ['get', 'pods', '--field-selector=status.phase=Running', '--output=name'];
    await waitFor('the pods to end', 60, async () => {
      const pods = await this.harness.kubectl([...running, '--namespace', namespaceOf(this.id)]);
      return pods.trim() === '' ? true : undefined;
    });
  }

  /** Returns how often the job ran. */
  async runs(): Promise<string> {
    return (await send(`${this.weburl}cgi-bin/runs`)).text.trim();
  }
}
