import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { stringify } from 'yaml';
import { z } from 'zod';
import type { Environment } from '../../../crds/environment.ts';
import { testClient } from '../../api-server/api-server.ts';
import { objectOf } from '../../client/object-of.ts';
import { pushBranches } from '../branches.ts';
import { namespaceOf, startHarness, type Harness } from '../harness.ts';
import { LifecycleBoard } from '../lifecycle-board.ts';
import { QUICK } from '../lifecycle-world.ts';

let harness: Harness;
let board: LifecycleBoard;
let id: string;

beforeAll(async () => {
  harness = await startHarness('gitops');
  board = new LifecycleBoard(testClient(), [harness.group]);
  id = `${harness.group}.shop-main`;
  await harness.kubectl(['wait', `groups.coppice.dev/${harness.group}`, '--for=condition=Ready', '--timeout=90s'], {
    deadline: 100,
  });
}, 90_000);

afterAll(async () => {
  await board.stop();
  await harness.remove();
}, 60_000);

/** How long the tests observe an object that must not change, in milliseconds. */
const quietMs = 3000;
const ttlSeconds = 8;

/** Applies what the GitOps tool has in its repository, as such a tool does. */
function apply(fieldManager: string): Promise<string> {
  const namespace = `group-${harness.group}`;
  const apiVersion = 'coppice.dev/v1alpha1';
  const repository = {
    ...{ apiVersion, kind: 'Repository', metadata: { name: 'shop', namespace } },
    spec: { type: 'generic', generic: { origin: originOf() } },
  };
  const environment = {
    ...{ apiVersion, kind: 'Environment', metadata: { name: 'shop-main', namespace } },
    spec: { repository: 'shop', gitRef: { name: 'main', type: 'branch' }, ttlSeconds },
  };
  const input = [repository, environment].map((object) => stringify(object)).join('---\n');
  const flags = ['--server-side', '--force-conflicts', `--field-manager=${fieldManager}`, '--filename', '-'];
  return harness.kubectl(['apply', ...flags], { input });
}

const originOf = () => `${harness.connection.gitUrl}/${harness.group}/shop.git`;

async function rest(method: string, body?: object): Promise<void> {
  const { status, text } = await harness.client.send(method, `/api/environment/${id}`, body);
  if (status >= 300) throw new Error(`${method} ${id}: ${status} ${text}`);
}

/** Returns the Environment after a time in which nothing was to happen. */
async function quiet(): Promise<Environment | undefined> {
  await sleep(quietMs);
  return board.read(id);
}

const fieldsSchema = z.object({
  metadata: z.object({
    managedFields: z.array(
      z.looseObject({
        manager: z.string(),
        subresource: z.string().optional(),
        fieldsV1: z.looseObject({ 'f:spec': z.unknown().optional(), 'f:metadata': z.looseObject({}).optional() }),
      }),
    ),
  }),
});

/** Returns the fields of an object, except its status, that Coppice has written. */
async function writtenByCoppice(kind: string, name: string): Promise<string[]> {
  const where = ['--namespace', `group-${harness.group}`, '--output', 'json', '--show-managed-fields'];
  const object = fieldsSchema.parse(JSON.parse(await harness.kubectl(['get', kind, name, ...where])));
  const own = object.metadata.managedFields.filter(({ manager }) => manager.startsWith('coppice'));
  return own
    .filter(({ subresource }) => subresource !== 'status')
    .flatMap(({ fieldsV1: { 'f:metadata': metadata = {}, ...others } }) => [
      ...Object.keys(others),
      ...Object.entries(metadata).flatMap(([field, fields]) =>
        field === 'f:annotations' ? Object.keys(z.looseObject({}).parse(fields)) : [field],
      ),
    ])
    .filter((field) => field !== '.');
}

test('never overwrites what a GitOps tool applies', async () => {
  await pushBranches(originOf(), QUICK, ['main']);
  await apply('flux');
  const first = await board.state(id, 'built');
  const uid = first?.metadata.uid;
  await board.state(id, 'empty');
  expect(board.read(id)?.status?.activation?.reason).toBe('Expired');

  await apply('argo-cd');
  expect(await quiet()).toMatchObject({ metadata: { uid }, status: { state: 'empty', build: { number: 1 } } });

  await rest('PUT', { ttl: 0 });
  await board.state(id, 'built');
  await apply('flux');
  expect((await quiet())?.status).toMatchObject({ state: 'built', build: { number: 2 }, ttl: { seconds: 0 } });

  // A second environment of the ref, of which a deletion would leave one.
  await harness.spawn(`${harness.group}.shop`, 'main', { build: false });
  await rest('DELETE');
  await board.state(id, 'empty');
  await apply('flux');
  expect(await quiet()).toMatchObject({ metadata: { uid }, status: { state: 'empty', build: { number: 2 } } });
  expect(await board.namespaceUid(id)).toBeUndefined();

  expect((await writtenByCoppice('environments.coppice.dev', 'shop-main')).sort()).toEqual([
    ...['f:coppice.dev/request-build', 'f:coppice.dev/request-create', 'f:coppice.dev/request-delete'],
    ...['f:coppice.dev/request-ttl', 'f:finalizers'],
  ]);
  expect([...new Set(await writtenByCoppice('repositories.coppice.dev', 'shop'))]).toEqual(['f:finalizers']);

  await refusesRest();
  await adoptsWhatRuns();

  await harness.kubectl(
    ['delete', 'environments.coppice.dev', 'shop-main', '--namespace', `group-${harness.group}`, '--timeout=60s'],
    { deadline: 70 },
  );
  expect(await board.namespaceUid(id)).toBeUndefined();
}, 240_000);

/** Checks that what the tool applies is neither changed nor deleted through the REST API, nor with what contains it. */
async function refusesRest(): Promise<void> {
  const repository = `/api/repository/${harness.group}.shop`;
  const requests: [string, string, object?][] = [
    ['POST', `${repository}/settings`, { environmentTTL: 60 }],
    ['DELETE', repository],
    ['DELETE', `/api/group/${harness.group}`],
  ];
  const settings = stringify({
    ...{ apiVersion: 'coppice.dev/v1alpha1', kind: 'Repository' },
    metadata: { name: 'shop', namespace: `group-${harness.group}` },
    spec: { type: 'generic', generic: { origin: originOf() }, environmentTTLSeconds: 600 },
  });
  const flags = ['--server-side', '--force-conflicts', '--field-manager=flux', '--filename', '-'];
  await harness.kubectl(['apply', ...flags], { input: settings });
  for (const [method, path, body] of requests) {
    const { status, text } = await harness.client.send(method, path, body);
    expect({ status, text }).toEqual({ status: 409, text: expect.stringMatching(/the field manager (flux|argo-cd)/) });
  }
}

/** Restores the object without its status: services keep running, and are not built again. */
async function adoptsWhatRuns(): Promise<void> {
  await rest('PUT', { ttl: 0 });
  const before = await board.state(id, 'built');
  const deployment = () =>
    harness.kubectl([
      'get',
      'deployments',
      '--namespace',
      namespaceOf(id),
      '--output',
      'jsonpath={.items[*].metadata}',
    ]);
  // The build is recorded right after it was reported.
  await sleep(1000);
  const deployed = await deployment();
  const { namespace, name } = objectOf(id);
  await harness.kubectl([
    ...['patch', 'environments.coppice.dev', name, '--namespace', namespace, '--subresource=status'],
    ...['--type=json', '--patch', '[{"op":"remove","path":"/status"}]'],
  ]);
  await board.until(id, 'without status', (one) => one?.status === undefined);
  await board.patch(id, { metadata: { annotations: { 'example.org/restored': 'today' } } });
  const after = await board.state(id, 'built');
  expect(after?.status?.build).toEqual(before?.status?.build);
  expect((await quiet())?.status?.build).toEqual(before?.status?.build);
  expect(await deployment()).toBe(deployed);
}
