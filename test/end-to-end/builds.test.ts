import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect } from '@jest/globals';
import { z } from 'zod';
import { send } from '../client/local-http.ts';
import { objectOf } from '../client/object-of.ts';
import type { EnvironmentAnswer } from '../client/rest-client.ts';
import { waitFor } from '../support/wait-for.ts';
import { pushRepository } from '../sample/push-repository.ts';
import { linesByService, logOf, settled } from './fixtures.ts';
import { namespaceOf, pageWith, randomName, startHarness, type Harness } from './harness.ts';
import { pushWithSubmodule } from './push-with-submodule.ts';
import { TestRegistry } from './registry-images.ts';
import { testsSideBySide } from './side-by-side.ts';

let harness: Harness;
const registry = new TestRegistry();

beforeAll(async () => {
  harness = await startHarness('images');
}, 60_000);

afterAll(() => harness.remove(), 60_000);

/** Serves what `RUN` wrote to index.html. */
const serve = 'CMD ["httpd", "-f", "-p", "8080", "-h", "/app"]';
const compose = 'services:\n  web:\n    build: .\n    ports: ["8080"]\n';

const statusSchema = z.object({
  metadata: z.object({ uid: z.string() }),
  status: z.object({
    build: z.object({ number: z.number(), result: z.string(), message: z.string().optional() }),
    deployed: z
      .object({ number: z.number(), images: z.array(z.object({ service: z.string(), image: z.string() })) })
      .optional(),
  }),
});

async function statusOf(id: string) {
  const { namespace, name } = objectOf(id);
  const args = ['get', 'environments.coppice.dev', name, '--namespace', namespace, '--output', 'json'];
  return statusSchema.parse(JSON.parse(await harness.kubectl(args))).status;
}

/** Returns the digest of the running image of the service `web`. */
async function imageOf(id: string): Promise<string> {
  return (await statusOf(id)).deployed?.images.find(({ service }) => service === 'web')?.image ?? '';
}

/** Requests a build or a rebuild, and waits until it has finished. */
async function buildAgain(id: string, what: 'build' | 'rebuild'): Promise<EnvironmentAnswer> {
  const before = (await statusOf(id)).build.number;
  const answer = await harness.client.send('POST', `/api/environment/${id}/${what}`, {});
  expect(answer.status).toBe(202);
  await waitFor(`the end of the ${what}`, 200, async () => {
    const { build } = await statusOf(id);
    return build.number > before && build.result !== 'running' ? true : undefined;
  });
  return settled(harness, id);
}

testsSideBySide(
  {
    'gives the build a secret that no layer and no log contains, and the image submodules and large files':
      keepsSecrets,
    'notices a moved base image at the next build, keeps rebuilds separate, and does not build an unchanged image':
      noticesMovedBase,
    'reports a missing base image, with what to do': reportsMissingBase,
  },
  600_000,
);

async function keepsSecrets(): Promise<void> {
  const credentials = { username: 'robot', password: randomBytes(12).toString('hex') };
  const secret = `secret-${randomBytes(12).toString('hex')}`;
  const large = 'x'.repeat(200_000) + randomBytes(8).toString('hex');
  const base = `${harness.connection.gitUrl}/${harness.group}`;
  for (const name of ['lib', 'app']) {
    const created = await send(`${harness.connection.gitUrl}/admin/repositories/${harness.group}/${name}`, {
      method: 'PUT',
      body: JSON.stringify(credentials),
    });
    expect(created.status).toBe(200);
  }
  const commit = await pushRepository({
    url: `${base}/lib.git`,
    branch: 'main',
    files: { 'hello.txt': 'Hello from the submodule' },
    credentials,
  });
  await pushWithSubmodule({
    url: `${base}/app.git`,
    credentials,
    submodule: { path: 'modules/lib', url: '../lib.git', commit },
    largeFiles: { 'assets/large.bin': large },
    files: {
      '.gitattributes': '*.bin filter=lfs diff=lfs merge=lfs -text\n',
      '.dockerignore': 'token.txt\n',
      'token.txt': secret,
      'compose.yaml':
        'services:\n  web:\n    build: { context: ., secrets: [token] }\n    ports: ["8080"]\n' +
        'secrets:\n  token: { file: ./token.txt }\n',
      Dockerfile: [
        '# syntax=docker/dockerfile:1',
        'FROM busybox:1',
        'WORKDIR /app',
        'COPY assets/large.bin modules/lib/hello.txt ./',
        'RUN --mount=type=secret,id=token cat /run/secrets/token && ' +
          'echo "token of $(wc -c </run/secrets/token), large of $(wc -c <large.bin), $(cat hello.txt)" >index.html',
        'RUN rm large.bin',
        serve,
        '',
      ].join('\n'),
    },
  });
  const params = { origin: `${base}/app.git`, ...credentials };
  const repositoryId = await harness.register({ name: 'app', type: 'generic', params });
  const id = await harness.spawn(repositoryId, 'main');
  const { weburl } = await settled(harness, id);
  const log = await logOf(harness, id);
  expect(log).toContain('fetching the submodule modules/lib');
  expect(log).not.toContain(secret);
  expect(log).not.toContain(credentials.password);
  await pageWith(weburl, `token of ${secret.length}, large of ${large.length}, Hello from the submodule`);

  const contents = await registry.contents(await imageOf(id));
  expect(contents.some((text) => text.includes('Hello from the submodule'))).toBe(true);
  expect(contents.filter((text) => text.includes(secret))).toEqual([]);
  const jobs = await harness.kubectl(['get', 'jobs,pods', '--namespace', namespaceOf(id), '--output', 'json']);
  expect(jobs).not.toContain(secret);
}

async function noticesMovedBase(): Promise<void> {
  const base = `coppice-test/${randomName('base')}`;
  const move = (label: string) => registry.copyWithLabel('docker.io/library/busybox:1', `docker.io/${base}:1`, label);
  await move('first');
  const files = {
    'compose.yaml': compose,
    Dockerfile: `ARG VERSION=1\nFROM ${base}:$VERSION\nWORKDIR /app\nRUN echo built >index.html\n${serve}\n`,
  };
  const url = `${harness.connection.gitUrl}/${harness.group}/base.git`;
  await pushRepository({ url, branch: 'main', files });
  const repository = await harness.addRepository('base', url);
  const one = await harness.spawn(repository, 'main');
  await settled(harness, one);
  const first = await imageOf(one);
  const unchanged = { web: [expect.stringContaining('unchanged')] };

  const two = await harness.spawn(repository, 'main', { name: 'Two' });
  await settled(harness, two);
  expect(await imageOf(two)).toBe(first);
  expect(await linesByService(harness, two)).toMatchObject(unchanged);

  await buildAgain(one, 'rebuild');
  expect(await linesByService(harness, one)).not.toMatchObject(unchanged);
  const rebuilt = await imageOf(one);
  expect(rebuilt).not.toBe(first);
  expect(await imageOf(two)).toBe(first);
  await expect(registry.contents(first)).resolves.toBeDefined();

  await move('second');
  await buildAgain(two, 'build');
  expect(await linesByService(harness, two)).not.toMatchObject(unchanged);
  const moved = await imageOf(two);
  expect([first, rebuilt]).not.toContain(moved);
  expect((await registry.contents(moved))[1]).toContain('"test":"second"');

  await buildAgain(two, 'build');
  expect(await linesByService(harness, two)).toMatchObject(unchanged);
  expect(await imageOf(two)).toBe(moved);
}

async function reportsMissingBase(): Promise<void> {
  const files = { 'compose.yaml': compose, Dockerfile: 'FROM registry.invalid/nothing:1\n' };
  const url = `${harness.connection.gitUrl}/${harness.group}/missing.git`;
  await pushRepository({ url, branch: 'main', files });
  const id = await harness.spawn(await harness.addRepository('missing', url), 'main');
  await harness.stalled(id);
  const log = await logOf(harness, id);
  expect(log).toMatch(/base image registry\.invalid\/nothing:1: .*did not respond/);
  expect(log).toMatch(/the build of service web failed/);
}
