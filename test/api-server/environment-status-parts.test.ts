import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type Environment, type EnvironmentStatus } from '../../crds/environment.ts';
import type { ClusterClient } from '../../kubernetes/client.ts';
import { feedbackPart, ownPart } from '../../operator/kinds/environment/status/status-parts.ts';
import { StatusWriter } from '../../operator/shared/status-writer.ts';
import { createNamespace, deleteNamespace, deleteWidgetType, testClient } from './api-server.ts';
import { createOwnType, environmentTypeOf } from './own-types.ts';

const lastTransitionTime = '2026-01-01T00:00:00Z';
const condition = (type: string, status: 'True' | 'False') => ({
  type,
  status,
  reason: 'Test',
  message: '',
  lastTransitionTime,
});

const type = environmentTypeOf('status');

let client: ClusterClient;
let namespace: string;
const requests = { writes: 0 };

beforeAll(async () => {
  client = testClient({ observe: (method) => (requests.writes += Number(method !== 'GET')) });
  namespace = await createNamespace(client);
  await createOwnType(client, type);
});

afterAll(async () => {
  await deleteWidgetType(client, type);
  await deleteNamespace(client, namespace);
  client.close();
});

test("keeps the fields of both writers of an Environment's status, whoever is first", async () => {
  const apiVersion = `${type.group}/${type.version}`;
  const gitRef = { name: '7', type: 'pull request' } as const;
  const spec = { repository: 'shop', gitRef, active: true, buildOnCreate: true };
  const created = await client.create(type, {
    apiVersion,
    kind: type.kind,
    metadata: { name: 'both', namespace },
    spec,
  });
  const cache = { observe: () => undefined };
  const own = new StatusWriter<Environment>(client, type, cache, ownPart);
  const feedback = new StatusWriter<Environment>(client, type, cache, feedbackPart);
  const latest = () => client.get(type, { namespace, name: 'both' });
  const write = async (writer: StatusWriter<Environment>, object: Environment, status: EnvironmentStatus) =>
    writer.write(structuredClone(object), status);

  await write(own, created, { state: 'created', commit: 'c1', conditions: [condition('Ready', 'True')] });
  await write(feedback, created, {
    feedback: { commit: 'c1', state: 'pending' },
    conditions: [condition('Reported', 'True')],
  });
  const both = await latest();
  expect(both.status).toMatchObject({ state: 'created', commit: 'c1', feedback: { commit: 'c1', state: 'pending' } });
  expect(both.status?.conditions?.map(({ type }) => type).sort()).toEqual(['Ready', 'Reported']);

  // Each writer sends back what it read, changes its own fields, and removes one of them.
  const changed = [condition('Ready', 'False'), condition('Reported', 'False')];
  await write(own, both, { ...both.status, commit: undefined, state: 'empty', feedback: {}, conditions: changed });
  await write(feedback, both, { ...both.status, feedback: { commit: 'c1', commentId: '9' } });
  const { status } = await latest();
  expect(status).toMatchObject({ state: 'empty', feedback: { commit: 'c1', commentId: '9' } });
  expect(status?.commit).toBeUndefined();
  expect(status?.feedback?.state).toBeUndefined();
  expect(status?.conditions?.map(({ type, status: value }) => [type, value]).sort()).toEqual([
    ['Ready', 'False'],
    ['Reported', 'True'],
  ]);

  // A change of the other writer's fields causes no write.
  requests.writes = 0;
  const now = await latest();
  await write(own, now, { ...now.status, feedback: {}, conditions: [condition('Ready', 'False')] });
  await write(feedback, now, { feedback: now.status?.feedback, conditions: [condition('Reported', 'True')] });
  expect(requests.writes).toBe(0);
});
