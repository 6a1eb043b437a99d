import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { z } from 'zod';
import { EventReader } from '../../api/testing/event-reader.ts';
import { ENVIRONMENT } from '../../crds/environment.ts';
import { groupNamespace, parseId } from '../../crds/ids.ts';
import { percentile } from '../bench/measure.ts';
import { ObservedCluster } from '../bench/observed-cluster.ts';
import { localhostLookup } from '../client/local-http.ts';
import type { RestClient } from '../client/rest-client.ts';
import { startHarness, type Harness } from './harness.ts';

/** Less than any interval of polling would reach. The benchmark measures the latency; here others share the processors. */
const maxMedianMs = 2000;
const changes = 40;

let harness: Harness;
let cluster: ObservedCluster;
const readers: EventReader[] = [];

beforeAll(async () => {
  harness = await startHarness('events');
  cluster = new ObservedCluster(harness.connection.kubeconfig);
}, 60_000);
afterAll(async () => {
  for (const reader of readers) reader.close();
  cluster.close();
  await harness.remove();
}, 60_000);

async function open({ token = '' }: RestClient, lastEventId?: string): Promise<EventReader> {
  const headers = { 'x-service-token': token, ...(lastEventId !== undefined && { 'last-event-id': lastEventId }) };
  const reader = await EventReader.open(`${harness.connection.apiUrl}/api/events`, headers, localhostLookup);
  readers.push(reader);
  return reader;
}

test('sends changes of the cluster to members only and at once, and loses none on reconnection', async () => {
  const repository = await harness.addRepository('shop', await harness.push('shop', 'main'));
  const id = await harness.spawn(repository, 'main', { build: false });
  const { name = '' } = parseId(id) ?? {};
  const at = { namespace: groupNamespace(harness.group), name };
  await harness.client.waitForEnvironment(id, ({ status }) => status === 'created');
  const stranger = await open(await harness.newUser());
  let reader = await open(harness.client);
  expect(await reader.next()).toMatchObject({ name: 'reset' });

  const times: number[] = [];
  for (let change = 0; change < changes; change++) {
    const displayName = `change ${change}`;
    const arrived = new Promise<number>((resolve) => {
      reader.onEvent = ({ data }) => {
        if ((data['item'] as { name?: string } | undefined)?.name === displayName) resolve(performance.now());
      };
    });
    const start = performance.now();
    await cluster.client.patch(ENVIRONMENT, at, { spec: { displayName } });
    times.push((await arrived) - start);
  }
  console.log(
    `change → event: p50 ${percentile(times, 0.5).toFixed(1)} ms, p95 ${percentile(times, 0.95).toFixed(1)} ms`,
  );
  expect(percentile(times, 0.5)).toBeLessThanOrEqual(maxMedianMs);

  reader.close();
  await cluster.client.patch(ENVIRONMENT, at, { spec: { displayName: 'while away' } });
  reader = await open(harness.client, reader.lastId);
  expect(await reader.next()).toMatchObject({ name: 'change', data: { id, item: { name: 'while away' } } });
  expect(stranger.events.map(({ name: event }) => event)).toEqual(['reset']);
}, 180_000);

const crashing = `services:
  web:
    image: busybox:1
    command: [sh, -c, 'sleep 15; exit 3']
    expose: ['8080']
`;
const crashedSchema = z.looseObject({
  services: z.array(
    z.looseObject({
      restarts: z.int(),
      ports: z.array(z.int()),
      image: z.string(),
      lastTermination: z.looseObject({ exitCode: z.int() }).optional(),
    }),
  ),
});
const eventsSchema = z.array(
  z.looseObject({ reason: z.string(), object: z.object({ kind: z.string(), name: z.string() }) }),
);
const buildsSchema = z.array(
  z.looseObject({ author: z.string(), subject: z.string(), stages: z.array(z.looseObject({ name: z.string() })) }),
);

test('an environment shows its commit, and how a service crashed while it is built', async () => {
  const repository = await harness.addRepository(
    'crash',
    await harness.push('crash', 'main', { 'compose.yaml': crashing }),
  );
  const id = await harness.spawn(repository, 'main');
  await harness.built(id);
  const reader = await open(harness.client);
  const crashed = await harness.client.waitForEnvironment(
    id,
    (one) => one.status === 'built' && (crashedSchema.parse(one).services[0]?.restarts ?? 0) > 0,
    120,
  );
  const [web] = crashedSchema.parse(crashed).services;
  expect(web).toMatchObject({ ports: [8080], image: 'busybox:1', lastTermination: { exitCode: 3 } });
  const builds = await harness.client.call(buildsSchema, 'GET', `/api/environment/${id}/builds`);
  expect(builds[0]?.subject).not.toBe('');
  expect(builds[0]?.stages.map(({ name }) => name)).toEqual(['build', 'rollout']);
  const events = await harness.client.call(eventsSchema, 'GET', `/api/environment/${id}/events?limit=200`);
  expect(events.some(({ reason, object }) => reason === 'BuildSucceeded' && object.kind === 'Environment')).toBe(true);
  expect(events.some(({ reason, object }) => reason === 'Started' && object.kind === 'Pod')).toBe(true);
  const items = reader.events.map(({ data }) => data['item'] as { id?: string; health?: string } | undefined);
  expect(items.some((item) => item?.id === id && item.health === 'degraded')).toBe(true);
}, 300_000);
