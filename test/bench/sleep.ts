import { setTimeout as delay } from 'node:timers/promises';
import { ENVIRONMENT, type Environment } from '../../crds/environment.ts';
import { LABELS } from '../../crds/labels.ts';
import { requestAnnotation } from '../../crds/requests.ts';
import type { ClusterClient } from '../../kubernetes/client.ts';
import type { Informer } from '../../kubernetes/informer.ts';
import { Deployment, EndpointSlice, objectKey, Pod } from '../../kubernetes/resource-type.ts';
import { isReady } from '../../operator/services/front/ready-pods.ts';
import { send, type RequestOptions } from '../client/local-http.ts';
import { objectOf } from '../client/object-of.ts';
import type { Progress } from '../support/progress.ts';
import { waitFor } from '../support/wait-for.ts';
import { namespaceOf, randomName, type Harness } from '../end-to-end/harness.ts';
import { following } from './following.ts';
import { percentile, type Figure } from './measure.ts';
import { provideImages } from './provide-images.ts';
import { WAKER_SLICES } from './waker-slices.ts';
import { withBench } from './with-bench.ts';

const quietCycles = 34;
const busyCycles = 16;
const requestsOfCycle = 20;
const requestEveryMs = 100;
/** How long traffic flows before an environment under traffic is put to sleep. */
const trafficBeforeMs = 500;
const directRequests = 500;
const body = 'x'.repeat(64 * 1024);

/**
 * One public service, whose image is on the node. It reads a request whole, and answers with the length of its body. The
 * CGI of busybox's httpd resets some connections of requests with a body, also where nothing sleeps.
 */
const compose = `services:
  web:
    image: nginx:1.22
    command:
      - sh
      - -c
      - |
        cat > /etc/nginx/conf.d/default.conf <<'END'
        server { listen 8080; location / { proxy_pass http://127.0.0.1:8081; } }
        server { listen 127.0.0.1:8081; location / { return 200 "here $$content_length\\n"; } }
        END
        exec nginx -g 'daemon off;'
    ports: ['8080:8080']
    stop_grace_period: 0s
`;

interface World {
  harness: Harness;
  client: ClusterClient;
  pods: Informer<Pod>;
  id: string;
  weburl: string;
  /** Namespace of the baseline's pods. */
  bare: string;
}

/**
 * Puts an environment to sleep again and again, with and without visitors meanwhile. Measures the time of a visit to it,
 * beside a bare pod of the same image; counts the requests that were not answered; and compares an environment that
 * sleeps when it is idle with one that never sleeps, while both are awake.
 */
export async function benchSleep(progress: Progress): Promise<Figure[]> {
  await provideImages(['nginx'], progress);
  const bare = randomName('bare');
  return withBench(progress, bare, async ({ harness, cluster: { client } }) => {
    const origin = await harness.push('page', 'main', { 'compose.yaml': compose });
    const repository = await harness.addRepository('page', origin);
    const [id, sleepy] = await progress.step('two environments of one service', async () => {
      const ids = [await harness.spawn(repository, 'main'), await harness.spawn(repository, 'main')] as const;
      for (const one of ids) await harness.built(one);
      return ids;
    });
    await harness.kubectl(['create', 'namespace', bare]);
    const direct = await progress.step('awake, with sleep on and off', () => benchAwake(harness, client, sleepy, id));
    const { weburl } = await harness.client.environment(id);
    const cycles = await following(client, Pod, { labelSelector: benchPods }, (pods) =>
      benchCycles({ harness, client, pods, id, weburl, bare }, progress),
    );
    return [...cycles, ...direct];
  });
}

/** Selects the pods of services, and those of the baseline. */
const benchPods = LABELS.service;

async function benchCycles(world: World, progress: Progress): Promise<Figure[]> {
  const answers: Answered[] = [];
  const [firsts, bareReady]: [number[], number[]] = [[], []];
  const template = await podTemplate(world);
  await progress.step(`${quietCycles} wakes`, async () => {
    for (let cycle = 0; cycle < quietCycles; cycle++) {
      await putToSleep(world);
      await withoutPods(world);
      bareReady.push(await barePod(world, template, cycle));
      const given = await traffic(world.weburl);
      firsts.push((given[0]?.ms ?? Number.NaN) / 1000);
      answers.push(...given);
      await awake(world);
    }
  });
  await progress.step(`${busyCycles} sleeps under traffic`, async () => {
    for (let cycle = 0; cycle < busyCycles; cycle++) {
      let isAwake = false;
      const flowing = traffic(world.weburl, () => isAwake);
      await delay(trafficBeforeMs);
      await putToSleep(world);
      await wokenAgain(world);
      isAwake = true;
      answers.push(...(await flowing));
      await awake(world);
    }
  });
  const lost = answers.filter(({ problem }) => problem !== undefined);
  for (const { problem } of lost) console.log(`lost: ${problem}`);
  const wake = 'visit to a sleeping environment → first answer';
  const baseline = (share: number) => ({ name: 'bare pod → Ready', samples: [percentile(bareReady, share)] });
  const least = (requestsOfCycle * (quietCycles + busyCycles)).toLocaleString('en');
  return [
    ...percentiles(wake, 's', firsts, { 0.5: '≤ 1.5 s', 0.95: '≤ 3 s' }).map(({ share, ...figure }) => ({
      ...figure,
      baseline: baseline(share),
    })),
    {
      name: `requests lost, of at least ${least} over ${quietCycles + busyCycles} sleeps and wakes`,
      circumstances: `${answers.length} requests`,
      unit: '',
      samples: [lost.length],
      target: '0',
    },
  ];
}

/** Returns a figure for each share, with its target. */
function percentiles(name: string, unit: string, samples: readonly number[], targets: Record<number, string>) {
  return Object.entries(targets)
    .map(([key, target]) => ({ share: Number(key), target }))
    .map(({ share, target }) => ({
      ...{ share, unit, target },
      name: `${name}, p${share * 100}`,
      samples: [percentile(samples, share)],
    }));
}

interface Answered {
  ms: number;
  /** Why the request counts as lost. */
  problem: string | undefined;
}

/** Sends requests at a constant rate until there are enough and `isOver`; every fourth has a body. */
async function traffic(weburl: string, isOver = () => true): Promise<Answered[]> {
  const requests: Promise<Answered>[] = [];
  for (let index = 0; index < requestsOfCycle || !isOver(); index++) {
    if (index > 0) await delay(requestEveryMs);
    requests.push(
      index % 4 === 3 ? answered(weburl, `here ${body.length}`, { method: 'POST', body }) : answered(weburl, 'here'),
    );
  }
  return Promise.all(requests);
}

async function answered(url: string, text: string, options: RequestOptions = {}): Promise<Answered> {
  const start = performance.now();
  const result = await send(url, { timeoutMs: 60_000, ...options }).catch((error: unknown) => error);
  const ms = performance.now() - start;
  const what = `${options.method ?? 'GET'} after ${Math.round(ms)} ms at ${new Date().toISOString()}`;
  if (result instanceof Error) return { ms, problem: `${what}: ${result.message}` };
  const { status, text: given } = result as Awaited<ReturnType<typeof send>>;
  return { ms, problem: status === 200 && given.includes(text) ? undefined : `${what}: ${status} ${given}` };
}

async function putToSleep({ harness, id }: World): Promise<void> {
  const { status, text } = await harness.client.send('POST', `/api/environment/${id}/sleep`);
  if (status !== 202) throw new Error(`sleep: ${status} ${text}`);
}

/** Waits until the operator has handled the request to sleep, and a visit has woken the environment again. */
async function wokenAgain({ client, id }: World): Promise<void> {
  await waitFor('a visit to wake the environment', 60, async () => {
    const { metadata, status } = await client.get<Environment>(ENVIRONMENT, objectOf(id));
    const isHandled = metadata.annotations?.[requestAnnotation('sleep')] === status?.handledRequests?.sleep;
    if (isHandled && status?.sleep?.asleep === false) return true;
    await delay(50);
    return undefined;
  });
}

async function withoutPods({ pods, id }: World): Promise<void> {
  const namespace = namespaceOf(id);
  await waitFor('the pods to be gone', 60, async () => {
    await delay(50);
    return pods.list().some(({ metadata }) => metadata.namespace === namespace) ? undefined : true;
  });
}

/** Waits until the environment runs, and requests reach its pods without the waker. */
async function awake({ client, id }: World): Promise<void> {
  const namespace = namespaceOf(id);
  await waitFor('the waker to be out of the way', 60, async () => {
    await delay(100);
    const { items } = await client.list(EndpointSlice, { namespace, labelSelector: WAKER_SLICES });
    const deployment = await client.get(Deployment, { namespace, name: 'web' });
    return items.length === 0 && deployment.status?.availableReplicas === 1 ? true : undefined;
  });
}

type PodSpec = NonNullable<Pod['spec']>;

/** Returns the container of the environment's pod, without its preStop hook. */
async function podTemplate({ client, id }: World): Promise<PodSpec['containers'][number]> {
  const deployment = await client.get(Deployment, { namespace: namespaceOf(id), name: 'web' });
  const container = deployment.spec?.template.spec?.containers[0];
  if (!container) throw new Error('the environment has no container');
  const { name, image = '', command, args, readinessProbe } = container;
  return { name, image, ...(command && { command }), ...(args && { args }), ...(readinessProbe && { readinessProbe }) };
}

/** Returns the seconds from the creation of a pod until a watch reports that it is ready. */
async function barePod({ client, pods, bare }: World, container: PodSpec['containers'][number], index: number) {
  const name = `bare-${index}`;
  const pod: Pod = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace: bare, labels: { [LABELS.service]: 'bare' } },
    spec: { containers: [container], terminationGracePeriodSeconds: 0 },
  };
  const start = performance.now();
  await client.create(Pod, pod);
  await pods.waitFor(objectKey(bare, name), (one) => one !== undefined && isReady(one), { timeoutMs: 60_000 });
  const seconds = (performance.now() - start) / 1000;
  await client.delete(Pod, { namespace: bare, name });
  return seconds;
}

/** Compares requests to two environments that are awake, of which one sleeps when it is idle. */
async function benchAwake(harness: Harness, client: ClusterClient, sleepy: string, other: string): Promise<Figure[]> {
  const path = `/api/environment/${sleepy}/settings`;
  const { status } = await harness.client.send('POST', path, { sleep: { afterSeconds: 24 * 3600 } });
  if (status !== 200) throw new Error(`POST ${path}: ${status}`);
  const urls = [await weburlOf(harness, sleepy), await weburlOf(harness, other)] as const;
  for (const id of [sleepy, other]) await waitFor('only own pods to be behind it', 60, () => hasOwnPods(client, id));
  const times: [number[], number[]] = [[], []];
  // In turns, so that other load affects both.
  for (let request = 0; request < directRequests; request++) {
    for (const [index, url] of urls.entries()) {
      const { ms, problem } = await answered(url, 'here');
      if (problem !== undefined) throw new Error(problem);
      times[index]?.push(ms);
    }
  }
  return [0.5, 0.99].map((share) => ({
    name: `request while awake, sleep on, p${share * 100}`,
    unit: 'ms',
    samples: [percentile(times[0], share)],
    baseline: { name: 'sleep off', samples: [percentile(times[1], share)] },
    target: '1 ×',
  }));
}

async function weburlOf({ client }: Harness, id: string): Promise<string> {
  return (await client.environment(id)).weburl;
}

/** Returns true if nothing but the ready pods of the environment is behind its Service, with no pod that is leaving. */
async function hasOwnPods(client: ClusterClient, id: string): Promise<true | undefined> {
  const namespace = namespaceOf(id);
  const [slices, pods] = await Promise.all([
    client.list(EndpointSlice, { namespace }),
    client.list(Pod, { namespace }),
  ]);
  const behind = new Set(
    slices.items.flatMap(({ endpoints }) => (endpoints ?? []).flatMap(({ addresses }) => addresses)),
  );
  const own = pods.items.map(({ status }) => status?.podIP ?? '');
  const hasSettled = pods.items.every(isReady) && own.length === 1;
  return hasSettled && behind.size === 1 && own.every((address) => behind.has(address)) ? true : undefined;
}
