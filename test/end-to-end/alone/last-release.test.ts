import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { parse, stringify } from 'yaml';
import { z } from 'zod';
import type { BuildLogMessage } from '../../../build-logs/message.ts';
import type { EnvironmentAnswer } from '../../client/rest-client.ts';
import { readConnection } from '../../cluster/connection.ts';
import { kubectlOf } from '../../cluster/kubectl.ts';
import { REPOSITORY_ROOT } from '../../support/paths.ts';
import { toolPath } from '../../cluster/go/programs.ts';
import { startProgress } from '../../support/progress.ts';
import { readRegistry } from '../../cluster/registries/registry.ts';
import { run } from '../../support/run.ts';
import { IMAGES } from '../../cluster/versions.ts';
import { waitFor } from '../../support/wait-for.ts';
import { deliverLastImage, LAST_RELEASE, unpackLastChart } from '../../release/last-release.ts';
import { permittedValues, schemaSchema } from '../../release/schema-changes.ts';
import { conditionOf, namespaceOf, pageWith, startHarness, type Harness } from '../harness.ts';
import { countedLog, numberedDockerfile } from '../numbered-build.ts';

/**
 * Environments in every state are created by the last release, which knows no sleep. The chart of this checkout then upgrades it, is rolled back,
 * and upgrades it again.
 */
const lines = 900;
const chart = join(REPOSITORY_ROOT, 'charts/coppice');
const scratch = mkdtempSync(join(tmpdir(), 'upgrade-'));
const connection = readConnection();
const kubectl = kubectlOf(connection);
const currentValues = join(scratch, 'current.yaml');
const lastValues = join(scratch, 'last.yaml');
let lastChart: string;
let harness: Harness;
let repository: string;
/** Environments by their state. */
const environments = { built: '', created: '', empty: '', stalled: '', building: '', ticking: '', sleeping: '' };

/** A service that writes a number every 200 ms. */
const tickingShop = {
  'compose.yaml': 'services:\n  clock: { build: . }\n',
  Dockerfile: `FROM busybox:1
CMD i=0; trap 'exit 0' TERM; while true; do i=$((i+1)); echo "tick $i"; sleep 0.2; done
`,
};

const helm = (args: readonly string[], seconds = 240) =>
  run(toolPath('helm'), ['--kubeconfig', connection.kubeconfig, '--namespace', 'coppice-system', ...args], {
    deadline: seconds + 10,
  });
const upgradeTo = (folder: string, values: string, ...more: string[]) =>
  helm(['upgrade', 'coppice', folder, '--values', values, ...more, '--wait', '--timeout', '240s', '--force-conflicts']);

const imageOf = async (deployment: string) =>
  kubectl([
    ...['get', 'deployment', deployment, '--namespace', 'coppice-system'],
    ...['--output', 'jsonpath={.spec.template.spec.containers[0].image}'],
  ]);

const redisImage = () =>
  kubectl([
    ...['get', 'statefulset', 'coppice-redis', '--namespace', 'coppice-system'],
    ...['--output', 'jsonpath={.spec.template.spec.containers[0].image}'],
  ]);

/** Waits until a new leader has reconciled everything that it found. */
async function settled(): Promise<void> {
  const path = 'jsonpath={range .items[*]}{.status.conditions[?(@.type=="Reconciling")].status} {end}';
  await waitFor('all environments to be reconciled', 120, async () => {
    const states = await kubectl(['get', 'environments.coppice.dev', '--all-namespaces', '--output', path]);
    return states.includes('True') ? undefined : true;
  });
  // Objects that differ from what the new operator wants would change now.
  await sleep(20_000);
}

beforeAll(async () => {
  writeFileSync(currentValues, await helm(['get', 'values', 'coppice', '--output', 'yaml']));
  lastChart = await unpackLastChart(scratch);
  const registry = readRegistry();
  if (!registry) throw new Error('there is no registry: run npm run up');
  const image = await deliverLastImage(registry, startProgress());
  const colon = image.lastIndexOf(':');
  const schema = schemaSchema.parse(JSON.parse(readFileSync(join(lastChart, 'values.schema.json'), 'utf8')));
  const values = z.looseObject({}).parse(permittedValues(parse(readFileSync(currentValues, 'utf8')), schema));
  values['image'] = { repository: image.slice(0, colon), tag: image.slice(colon + 1) };
  // The last release installed Redis; the upgrade replaces it by Valkey, which keeps logins and logs, and so does a rollback.
  values['redis'] = { ...z.looseObject({}).parse(values['redis']), image: IMAGES.redis };
  writeFileSync(lastValues, stringify(values));
  await upgradeTo(lastChart, lastValues);
  expect(await imageOf('coppice-operator')).toBe(image);

  harness = await startHarness('upgrade');
  repository = await harness.addRepository('shop', await harness.push('shop', 'main'));
  await harness.push('shop', 'slow', { 'api/Dockerfile': numberedDockerfile(harness.group, lines) });
  await harness.push('shop', 'broken', { 'compose.yaml': 'services: []' });
  await harness.push('shop', 'ticking', tickingShop);
  environments.stalled = await harness.spawn(repository, 'broken');
  environments.ticking = await harness.spawn(repository, 'ticking');
  environments.built = await harness.spawn(repository, 'main');
  await harness.built(environments.built);
  environments.created = await harness.spawn(repository, 'main', { build: false });
  // An environment without contents stays only while no other one has its ref.
  await harness.push('shop', 'idle');
  environments.empty = await harness.spawn(repository, 'idle', { build: false });
  await harness.client.waitForEnvironment(environments.empty, ({ status }) => status === 'created');
  await harness.client.call(z.unknown(), 'DELETE', `/api/environment/${environments.empty}`);
  await harness.client.waitForEnvironment(environments.empty, ({ status }) => status === 'empty');
  await harness.client.waitForEnvironment(environments.created, ({ status }) => status === 'created');
  await harness.stalled(environments.stalled);
  await harness.built(environments.ticking);
}, 900_000);

afterAll(async () => {
  await upgradeTo(chart, currentValues);
  await harness.remove();
  rmSync(scratch, { recursive: true });
}, 400_000);

/**
 * Returns what must not change: the pods with their restarts, and the Jobs and ReplicaSets, of which each other pod template
 * makes a new one.
 */
async function contents(): Promise<string[]> {
  const namespaces = [environments.built, environments.created, environments.ticking].map(namespaceOf);
  const pods = 'jsonpath={range .items[*]}{.metadata.uid} {.status.containerStatuses[*].restartCount};{end}';
  return Promise.all(
    namespaces.flatMap((namespace) => [
      kubectl(['get', 'replicasets,statefulsets,jobs', '--namespace', namespace, '--output', 'name']),
      kubectl(['get', 'pods', '--namespace', namespace, '--output', pods]),
    ]),
  );
}

/** Returns state and build of the environments that do not change by themselves. */
function states(): Promise<unknown[]> {
  const { built, created, empty, stalled } = environments;
  return Promise.all(
    [built, created, empty, stalled].map(async (id) => {
      // A busy machine answers 503 while the API's probe fails.
      const read = () => harness.client.environment(id);
      const { status, build } = await waitFor(`the API to answer for ${id}`, 30, read);
      return { id, status, build: build && { number: build.number, result: build.result } };
    }),
  );
}

/** Reads a build's log to its end, and reconnects where the API restarts. */
async function followed(id: string): Promise<BuildLogMessage[]> {
  const messages: BuildLogMessage[] = [];
  while (!messages.some((message) => 'end' in message)) {
    const last = messages.at(-1);
    try {
      const resumed: Record<string, string> = last === undefined ? {} : { from: String(last.seq) };
      for await (const message of harness.client.log(id, resumed)) messages.push(message);
    } catch (error) {
      // A refused connection is repeated; anything else would be repeated until the test's time is over.
      if (!(error instanceof Error)) throw error;
    }
    await sleep(100);
  }
  return messages;
}

/** Reads the log of the ticking service, and reconnects where the API restarts. Returns a function that ends it. */
function watchTicks(): () => Promise<{ seqs: number[]; ticks: number[] }> {
  const messages: BuildLogMessage[] = [];
  const stopped = new AbortController();
  const isStopped = () => stopped.signal.aborted;
  const watch = async () => {
    while (!isStopped()) {
      const from = messages.at(-1)?.seq;
      const range: Record<string, string> = from === undefined ? { tail: '1' } : { from: String(from) };
      try {
        for await (const message of harness.client.serviceLog(environments.ticking, 'clock', range)) {
          messages.push(message);
          if (isStopped()) break;
        }
      } catch (error) {
        // As in `followed`.
        if (!(error instanceof Error)) throw error;
      }
      await sleep(100);
    }
  };
  const ended = watch();
  return async () => {
    stopped.abort();
    await ended;
    return {
      seqs: messages.map(({ seq }) => seq),
      ticks: messages.flatMap((message) => ('line' in message ? Number(/^tick (\d+)$/.exec(message.line)?.[1]) : [])),
    };
  };
}

/** Returns as many consecutive numbers, from the first one. */
const consecutive = ([first = 0, ...rest]: readonly number[]) => [first, ...rest.map((_, index) => first + 1 + index)];

test('an upgrade restarts, rebuilds and forgets nothing, and completes a build that is under way', async () => {
  const before = { contents: await contents(), states: await states() };
  expect(before.states).toMatchObject([{ status: 'built' }, { status: 'created' }, { status: 'empty' }, {}]);
  environments.building = await harness.spawn(repository, 'slow');
  const log = followed(environments.building);
  const endOfTicks = watchTicks();
  await harness.client.waitForEnvironment(environments.building, ({ status }) => status === 'building');
  await upgradeTo(chart, currentValues);
  expect(await imageOf('coppice-operator')).not.toContain('coppice-last-release');
  expect(await redisImage()).toBe(IMAGES.valkey);
  const { found, expected } = countedLog(await log, lines);
  expect(found).toEqual(expected);
  await harness.built(environments.building);
  await settled();
  const { seqs, ticks } = await endOfTicks();
  expect(ticks.length).toBeGreaterThan(100);
  expect({ seqs, ticks }).toEqual({ seqs: consecutive(seqs), ticks: consecutive(ticks) });
  expect(await contents()).toEqual(before.contents);
  expect(await states()).toEqual(before.states);
  // The login of before is in Redis.
  expect((await harness.client.send('GET', '/api/groups')).status).toBe(200);
}, 600_000);

test('a rollback restarts and rebuilds nothing, and the last release continues', async () => {
  const before = { contents: await contents(), states: await states() };
  await helm(['rollback', 'coppice', '--wait', '--timeout', '240s', '--force-conflicts']);
  expect(await imageOf('coppice-operator')).toContain('coppice-last-release');
  expect(await redisImage()).toBe(IMAGES.redis);
  await settled();
  expect(await contents()).toEqual(before.contents);
  expect(await states()).toEqual(before.states);
  await harness.push('shop', 'after', { 'web/title.txt': 'Built after the rollback' });
  const { weburl } = await harness.built(await harness.spawn(repository, 'after'));
  await pageWith(weburl, 'Built after the rollback', 60);
}, 600_000);

test(`the next upgrade from ${LAST_RELEASE.version} restarts and rebuilds nothing`, async () => {
  const before = { contents: await contents(), states: await states() };
  await upgradeTo(chart, currentValues);
  await settled();
  expect(await contents()).toEqual(before.contents);
  expect(await states()).toEqual(before.states);
  await pageWith((await harness.client.environment(environments.built)).weburl, 'Hello from the API');
}, 400_000);

test('the upgrade to a next release keeps an environment asleep, which a visit then wakes', async () => {
  await harness.push('shop', 'sleeping', { 'web/title.txt': 'Slept well\n' });
  environments.sleeping = await harness.spawn(repository, 'sleeping');
  const { weburl } = await harness.built(environments.sleeping);
  const path = `/api/environment/${environments.sleeping}/sleep`;
  expect((await harness.client.send('POST', path)).status).toBe(202);
  const isAsleep = (one: EnvironmentAnswer) => conditionOf(one, 'Asleep')?.status === 'True';
  await harness.client.waitForEnvironment(environments.sleeping, isAsleep, 90);
  const list = ['get', 'pods', '--namespace', namespaceOf(environments.sleeping), '--output=name'];
  await waitFor('the pods to end', 90, async () => ((await kubectl(list)).trim() === '' ? true : undefined));
  // Its operator, API and waker are new pods, as those of a release with another image.
  const parts = ['operator', 'api', 'waker'].map((part) => `${part}.podAnnotations.release=next`);
  await upgradeTo(chart, currentValues, '--set', parts.join(','));
  await settled();
  expect(isAsleep(await harness.client.environment(environments.sleeping))).toBe(true);
  expect((await kubectl(list)).trim()).toBe('');
  await pageWith(weburl, 'Slept well', 90);
  expect(isAsleep(await harness.client.environment(environments.sleeping))).toBe(false);
}, 600_000);
