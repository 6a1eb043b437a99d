import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { WebSocket } from 'ws';
import { z } from 'zod';
import { localhostLookup, send } from '../../client/local-http.ts';
import type { EnvironmentAnswer } from '../../client/rest-client.ts';
import { waitFor } from '../../support/wait-for.ts';
import { pushFixture, settled } from '../fixtures.ts';
import { conditionOf, namespaceOf, pageWith, startHarness, type Harness } from '../harness.ts';

let harness: Harness;
let repository: string;
let id: string;
let environment: EnvironmentAnswer;

beforeAll(async () => {
  harness = await startHarness('runtime');
  repository = await harness.addRepository('runtime', await pushFixture(harness, 'runtime', 'main'));
  id = await harness.spawn(repository, 'main');
  environment = await settled(harness, id);
}, 480_000);

afterAll(() => harness.remove(), 60_000);

const buildSchema = z.looseObject({ build: z.object({ number: z.number(), result: z.string(), message: z.string() }) });

/** Requests a build; returns it once it has finished. */
async function build() {
  const before = buildSchema.parse(await harness.client.environment(id)).build.number;
  await harness.client.send('POST', `/api/environment/${id}/build`);
  const isOver = (answer: EnvironmentAnswer) => {
    const { data } = buildSchema.safeParse(answer);
    return data !== undefined && data.build.number > before && data.build.result !== 'running';
  };
  return buildSchema.parse(await harness.client.waitForEnvironment(id, isOver, 240)).build;
}

/** Pushes a version of the service file's program and builds it. */
async function buildRevision(version: string): Promise<void> {
  await pushFixture(harness, 'runtime', 'main', { 'app/version.txt': `${version}\n` });
  expect(await build()).toMatchObject({ result: 'succeeded' });
}

const linesOfStore = async () => (await pageWith(`${environment.weburl}store/lines`, 'migrated')).trimEnd().split('\n');

test('makes every service ready, the job before what waits for it', () => {
  expect(environment).toMatchObject({
    status: 'built',
    services: [
      { name: 'migrate', ready: true },
      { name: 'store', ready: true },
      { name: 'web', ready: true },
    ],
  });
});

test('shares a host between two services by path, with a separate host for an alias', async () => {
  expect(await pageWith(`${environment.weburl}version`, 'one')).toBe('one');
  expect(await pageWith(`${environment.weburl}store/version`, 'one')).toBe('one');
  const { admin } = z.looseObject({ aliases: z.object({ admin: z.string() }) }).parse(environment).aliases;
  const [group = '', name = ''] = id.split('.');
  expect(new URL(admin).hostname).toBe(`admin---${name}--${group}.env.localhost`);
  expect(await pageWith(`${admin}version`, 'one')).toBe('one');
});

test('mounts a file of the repository, and lets a service write its volume and be reached by an alias', async () => {
  expect(await pageWith(`${environment.weburl}settings`, 'hazel')).toBe('{ "colour": "hazel" }\n');
  expect((await send(`${environment.weburl}store/lines`, { method: 'POST', body: 'kept by 1234\n' })).text).toBe(
    'kept',
  );
  expect(await pageWith(`${environment.weburl}records`, 'kept by 1234')).toBe('migrated\nkept by 1234\n');
});

test('passes a WebSocket through the Ingress', async () => {
  const socket = new WebSocket(environment.weburl.replace('http', 'ws'), { lookup: localhostLookup });
  await once(socket, 'open');
  for (const text of ['first', 'second']) {
    socket.send(text);
    const [data] = (await once(socket, 'message')) as [Buffer];
    expect(data.toString()).toBe(text);
  }
  socket.terminate();
}, 20_000);

test('passes a body of 20 MiB through the Ingress', async () => {
  const body = randomBytes(10 * 1024 * 1024).toString('hex');
  const answer = await send(`${environment.weburl}digest`, { method: 'POST', body });
  expect(answer.text).toBe(`${20 * 1024 * 1024} ${createHash('sha256').update(body).digest('hex')}`);
}, 30_000);

describe('a new revision', () => {
  let failures: string[] = [];
  const seen = new Map<string, number>();

  beforeAll(async () => {
    let isOver = false;
    const visit = async () => {
      while (!isOver) {
        const answer = await send(`${environment.weburl}version`, { timeoutMs: 10_000 }).catch(String);
        if (typeof answer === 'object' && answer.status === 200)
          seen.set(answer.text, (seen.get(answer.text) ?? 0) + 1);
        else failures.push(JSON.stringify(answer));
        await delay(5);
      }
    };
    const visitors = Array.from({ length: 4 }, visit);
    await buildRevision('two');
    await delay(6000); // the former pod's end
    await waitFor('100 answers of the new version', 60, async () => ((seen.get('two') ?? 0) > 100 ? true : undefined));
    isOver = true;
    await Promise.all(visitors);
    failures = failures.slice(0, 5);
  }, 300_000);

  test('is rolled out without a failed request', () => {
    expect(failures).toEqual([]);
    expect([...seen.keys()].sort()).toEqual(['one', 'two']);
    expect(seen.get('one')).toBeGreaterThan(100);
    expect(seen.get('two')).toBeGreaterThan(100);
    console.log(`requests answered while the version changed: ${JSON.stringify(Object.fromEntries(seen))}`);
  });

  test('keeps the volume, and runs its job once more', async () => {
    expect(await linesOfStore()).toEqual(['migrated', 'kept by 1234', 'migrated']);
    const ofServices = ['--selector', '!coppice.dev/measured-build', '--output', 'name'];
    const jobs = await harness.kubectl(['get', 'jobs', '--namespace', namespaceOf(id), ...ofServices]);
    expect(jobs.trim().split('\n')).toEqual([expect.stringMatching(/^job\.batch\/migrate-[0-9a-f]{12}$/)]);
  });
});

test('ends the build with the last lines of a failed job, and keeps services running', async () => {
  const compose = `services:
  web:
    build: ./app
    ports: ["8080"]
    depends_on: { broken: { condition: service_completed_successfully } }
  broken:
    image: node:24-slim
    command: ["node", "-e", "console.error('there is no table notes'); process.exit(4)"]
    restart: "no"
`;
  await pushFixture(harness, 'runtime', 'main', { 'compose.yaml': compose });
  expect(await build()).toMatchObject({
    result: 'failed',
    message: expect.stringContaining('broken: it has failed: exit code 4: there is no table notes'),
  });
  expect(conditionOf(await harness.client.environment(id), 'Built')).toMatchObject({ reason: 'JobFailed' });
  expect(await pageWith(`${environment.weburl}version`, 'two')).toBe('two');
  expect(await linesOfStore()).toHaveLength(3);
}, 300_000);

test('creates a new volume after DELETE and PUT', async () => {
  await pushFixture(harness, 'runtime', 'main', { 'app/version.txt': 'three\n' });
  await harness.client.send('DELETE', `/api/environment/${id}`);
  await harness.client.waitForEnvironment(id, ({ status }) => status === 'empty', 120);
  await harness.client.send('PUT', `/api/environment/${id}`);
  expect(await settled(harness, id)).toMatchObject({ status: 'built' });
  await pageWith(`${environment.weburl}version`, 'three');
  expect(await linesOfStore()).toEqual(['migrated']);
}, 600_000);
