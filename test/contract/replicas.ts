// Verifies two replicas of the API behind one Service: all show what one has written, all refuse a token that ended, a
// drained replica loses no request, and a killed one none that is repeated. Runs after the other tests, whose requests
// would fail meanwhile. Exits with 1 on a failure.
import assert from 'node:assert/strict';
import { z } from 'zod';
import { RestClient } from '../client/rest-client.ts';
import type { Answer } from '../client/local-http.ts';
import { run } from '../support/run.ts';
import { runMain } from '../support/progress.ts';
import { waitFor } from '../support/wait-for.ts';
import { startHarness, type Harness } from '../end-to-end/harness.ts';

const namespace = ['--namespace', 'coppice-system'];
const podsSchema = z.object({
  items: z.array(
    z.object({
      metadata: z.object({ name: z.string(), deletionTimestamp: z.string().optional() }),
      status: z.object({
        conditions: z.array(z.object({ type: z.string(), status: z.string() })).default([]),
        containerStatuses: z.array(z.object({ restartCount: z.int() })).default([]),
      }),
    }),
  ),
});

async function apiPods({ kubectl }: Harness) {
  const selector = 'app.kubernetes.io/name=coppice-api';
  const text = await kubectl([...namespace, 'get', 'pods', '--selector', selector, '--output', 'json']);
  return podsSchema.parse(JSON.parse(text)).items;
}

async function restarts(harness: Harness): Promise<number> {
  const containers = (await apiPods(harness)).flatMap(({ status }) => status.containerStatuses);
  return containers.reduce((sum, { restartCount }) => sum + restartCount, 0);
}

/** Returns the names of the API's pods to which requests are routed. */
async function readyPods(harness: Harness): Promise<string[]> {
  return (await apiPods(harness))
    .filter(({ metadata }) => metadata.deletionTimestamp === undefined)
    .filter(({ status }) => status.conditions.some(({ type, status }) => type === 'Ready' && status === 'True'))
    .map(({ metadata }) => metadata.name);
}

/** Returns the number of requests that a pod has handled. */
async function answeredBy({ kubectl }: Harness, pod: string): Promise<number> {
  const metrics = await kubectl(['get', '--raw', `/api/v1/namespaces/coppice-system/pods/${pod}:3001/proxy/metrics`]);
  const counts = [...metrics.matchAll(/^coppice_api_requests_total\{.*\} (\d+)$/gm)].map(([, count]) => Number(count));
  return counts.reduce((sum, count) => sum + count, 0);
}

async function spread(harness: Harness): Promise<string> {
  const pods = await waitFor('two replicas of the API', 60, async () => {
    const ready = await readyPods(harness);
    return ready.length > 1 ? ready : undefined;
  });
  const before = await Promise.all(pods.map((pod) => answeredBy(harness, pod)));
  await Promise.all(Array.from({ length: 40 }, () => harness.client.send('GET', '/api/groups')));
  const after = await Promise.all(pods.map((pod) => answeredBy(harness, pod)));
  const shares = after.map((count, index) => count - (before[index] ?? 0));
  assert.ok(Math.min(...shares) > 0, `one replica answered nothing: ${shares.join(', ')}`);
  return `40 requests are spread: ${shares.join(', ')}`;
}

/** Verifies that users read their own writes immediately, at any replica. */
async function readsWhatWasWritten({ client, group }: Harness): Promise<string> {
  for (let number = 0; number < 30; number++) {
    const name = `WRITTEN_${number}`;
    const written = await client.send('POST', `/api/group/${group}/variables`, { name, value: '1' });
    assert.equal(written.status, 201, written.text);
    const { text } = await client.send('GET', `/api/group/${group}/settings`);
    assert.ok(text.includes(`"${name}"`), `${name} was written and is not shown: ${text}`);
  }
  return '30 variables are shown at once';
}

/** Verifies that every replica refuses a token as soon as it has ended. */
async function refusesEndedTokens(harness: Harness): Promise<string> {
  const password = 'correct horse battery';
  const { email = '' } = await harness.newUser(password);
  const user = new RestClient(harness.connection.apiUrl);
  await user.login(email, password);
  const statuses = async () => {
    const answers = await Promise.all(Array.from({ length: 10 }, () => user.send('GET', '/api/user/info')));
    return [...new Set(answers.map(({ status }) => status))];
  };
  const expirationTime = '2100-01-01T00:00:00Z';
  const made = await user.send('POST', '/api/user/tokens', { name: 'robot', expirationTime });
  const session = user.token;
  user.token = z.looseObject({ token: z.string() }).parse(JSON.parse(made.text)).token;
  const robot = user.token;
  assert.deepEqual(await statuses(), [200]);
  user.token = session;
  assert.equal((await user.send('DELETE', '/api/user/tokens', { name: 'robot' })).status, 200);
  user.token = robot;
  assert.deepEqual(await statuses(), [401]);
  user.token = session;
  assert.equal((await user.send('POST', '/api/user/logout')).status, 200);
  assert.deepEqual(await statuses(), [401]);
  return 'a deleted API token and a logout count at every replica at once';
}

/** Sends concurrent reads and writes until it is stopped. */
class Load {
  readonly #client: RestClient;
  readonly #path: string;
  readonly #workers: Promise<void>[];
  #isOver = false;
  answered = 0;
  /** Requests without a response of the API, which were sent again. */
  repeated = 0;
  readonly written: string[] = [];
  readonly faults: string[] = [];

  constructor({ client, group }: Harness, prefix: string) {
    this.#client = client;
    this.#path = `/api/group/${group}`;
    this.#workers = Array.from({ length: 6 }, (_one, index) => this.#work(`${prefix}_${index}`));
  }

  async stop(): Promise<void> {
    this.#isOver = true;
    await Promise.all(this.#workers);
  }

  async #work(prefix: string): Promise<void> {
    for (let count = 0; !this.#isOver; count++) {
      const read = await this.#send('GET', this.#path);
      if (read.status !== 200) this.faults.push(`GET: ${read.status} ${read.text}`);
      if (count % 10 !== 0 || this.written.length >= 60) continue; // A group has at most 200.
      const name = `${prefix}_${count}`;
      const repeatedBefore = this.repeated;
      const { status, text } = await this.#send('POST', `${this.#path}/variables`, { name, value: '1' });
      // A write whose response was lost is found when it is repeated.
      if (status === 201 || (status === 409 && this.repeated > repeatedBefore)) this.written.push(name);
      else this.faults.push(`POST: ${status} ${text}`);
    }
  }

  async #send(method: string, path: string, body?: object): Promise<Answer> {
    for (;;) {
      const answer = await this.#client.send(method, path, body).catch(() => undefined);
      // The Ingress controller's response for a missing replica is not JSON, unlike the API's.
      const isAnswered = answer !== undefined && !([502, 504].includes(answer.status) && !answer.text.startsWith('{'));
      if (isAnswered) {
        this.answered += 1;
        return answer;
      }
      this.repeated += 1;
    }
  }
}

async function underLoad(harness: Harness, prefix: string, inject: () => Promise<unknown>): Promise<Load> {
  const pods = (await readyPods(harness)).length;
  const load = new Load(harness, prefix);
  await inject();
  await waitFor('as many replicas as before', 120, async () =>
    (await readyPods(harness)).length >= pods ? true : undefined,
  );
  await load.stop();
  assert.deepEqual(load.faults, []);
  const { text } = await harness.client.send('GET', `/api/group/${harness.group}/settings`);
  const missing = load.written.filter((name) => !text.includes(`"${name}"`));
  assert.deepEqual(missing, [], 'what was written and confirmed is not there');
  return load;
}

async function drained(harness: Harness): Promise<string> {
  const [pod = ''] = await readyPods(harness);
  const load = await underLoad(harness, 'DRAINED', () =>
    harness.kubectl([...namespace, 'delete', 'pod', pod], { deadline: 90 }),
  );
  assert.equal(load.repeated, 0, 'requests were lost while a replica was drained');
  return `${load.answered} requests while one is drained, none lost`;
}

async function killed(harness: Harness): Promise<string> {
  const load = await underLoad(harness, 'KILLED', async () => {
    const kill = ['exec', 'coppice-control-plane', 'pkill', '-KILL', '--newest', '--full', 'node api/main.ts'];
    const before = await restarts(harness);
    await run('docker', kill);
    await waitFor('it to be started again', 60, async () => ((await restarts(harness)) > before ? true : undefined));
  });
  return `${load.answered} requests while one is killed, ${load.repeated} of them asked again`;
}

await runMain(async () => {
  const harness = await startHarness('replicas');
  try {
    for (const check of [spread, readsWhatWasWritten, refusesEndedTokens, drained, killed]) {
      console.log(await check(harness));
    }
  } finally {
    await harness.remove();
  }
});
