import { beforeEach, describe, expect, test } from '@jest/globals';
import request from 'supertest';
import { LABELS } from '../../crds/labels.ts';
import { ApiError, TooLargeError } from '../../kubernetes/api-error.ts';
import type { ListOptions } from '../../kubernetes/client-options.ts';
import type { ResourceType } from '../../kubernetes/resource-type.ts';
import { TestApi } from '../testing/test-api.ts';
import type { PodMetrics } from './usage.ts';

const path = '/api/group/acme/usage';
const MiB = 1024 * 1024;

let api: TestApi;
let token: string;
let asked: { kind: string; options: ListOptions }[];
let listed: () => PodMetrics[] | Promise<PodMetrics[]>;

beforeEach(async () => {
  asked = [];
  listed = () => [];
  const list = async (type: ResourceType, options: ListOptions = {}) => {
    asked.push({ kind: type.kind, options });
    return { items: (await listed()) as never[], resourceVersion: '1' };
  };
  api = new TestApi({}, undefined, {}, undefined, undefined, undefined, { list });
  ({ token } = await api.login('alice@example.com'));
  api.addGroup('acme', ['alice@example.com']);
  api.addRepository('acme', 'shop');
});

async function get(at = path, as = token, status = 200): Promise<unknown> {
  return (await request(api.app).get(at).set('x-service-token', as).expect(status)).body as unknown;
}

/** Adds an environment, and returns metrics of a pod of it. */
function measured(name: string, cpu: string, memory: string, group = 'acme'): PodMetrics {
  const uid = api.addEnvironment(group, name, 'shop', { state: 'built' }).metadata.uid ?? '';
  return pod(`env-${name}--${group}`, uid, cpu, memory, group);
}

function pod(namespace: string, uid: string, cpu: string, memory: string, group = 'acme'): PodMetrics {
  const labels = { [LABELS.group]: group, [LABELS.environmentUid]: uid, [LABELS.service]: 'web' };
  return {
    ...{ apiVersion: 'metrics.k8s.io/v1beta1', kind: 'PodMetrics' },
    metadata: { name: 'pod', namespace, labels },
    timestamp: '2026-01-01T00:00:00Z',
    containers: [{ name: 'web', usage: { cpu, memory } }],
  };
}

describe('the sum over a group', () => {
  test('has the environments with the largest share of CPU or memory first, from one list', async () => {
    const pods = [measured('idle', '1m', '1Mi'), measured('busy', '900m', '1Mi'), measured('large', '99m', '98Mi')];
    listed = () => [...pods, { ...pods[2], timestamp: '2026-01-01T00:00:10Z' } as PodMetrics];
    expect(await get()).toEqual({
      measured: true,
      at: 1767225610,
      cpu: expect.closeTo(1.099),
      memory: 198 * MiB,
      pods: 4,
      environments: 3,
      top: [
        { id: 'acme.large', name: 'large', cpu: 0.198, memory: 196 * MiB, pods: 2 },
        { id: 'acme.busy', name: 'busy', cpu: 0.9, memory: MiB, pods: 1 },
        { id: 'acme.idle', name: 'idle', cpu: 0.001, memory: MiB, pods: 1 },
      ],
    });
    const labelSelector = 'coppice.dev/group=acme,coppice.dev/environment-uid,coppice.dev/service';
    expect(asked).toEqual([{ kind: 'PodMetrics', options: { labelSelector, maxBytes: 4 * MiB, timeoutMs: 5000 } }]);
  });

  test('does not count pods whose labels name an environment of the group from elsewhere', async () => {
    const own = measured('main', '100m', '1Mi');
    const uid = own.metadata.labels?.[LABELS.environmentUid] ?? '';
    api.addGroup('other', ['mallory@example.com']);
    const foreign = measured('main', '1', '1Gi', 'other');
    const foreignUid = foreign.metadata.labels?.[LABELS.environmentUid] ?? '';
    listed = () => [
      own,
      // In another group's environment, in a namespace that Coppice does not manage, of a former or another environment.
      pod('env-main--other', uid, '1', '1Gi'),
      pod('env-main--other', foreignUid, '1', '1Gi'),
      pod('default', uid, '1', '1Gi'),
      pod('env-main--acme', foreignUid, '1', '1Gi'),
    ];
    expect(await get()).toMatchObject({ cpu: 0.1, memory: MiB, pods: 1, environments: 1, top: [{ id: 'acme.main' }] });
  });

  test('lists ten environments at most, and counts all', async () => {
    const pods = Array.from({ length: 12 }, (_none, index) => measured(`branch-${index}`, '100m', '1Mi'));
    listed = () => pods;
    const usage = (await get()) as { environments: number; top: unknown[] };
    expect([usage.environments, usage.top.length]).toEqual([12, 10]);
  });

  test('is zero without pods', async () => {
    const none = { measured: true, at: 0, cpu: 0, memory: 0, pods: 0, environments: 0, top: [] };
    expect(await get()).toEqual(none);
  });
});

describe('what it costs', () => {
  test('is one list for callers of the same group', async () => {
    await Promise.all([get(), get(), get()]);
    await get();
    expect(asked).toHaveLength(1);
  });

  test('is two lists at a time for all groups together', async () => {
    for (const name of ['one', 'two']) api.addGroup(name, ['alice@example.com']);
    let answer: (pods: PodMetrics[]) => void = () => undefined;
    const answered = new Promise<PodMetrics[]>((resolve) => (answer = resolve));
    listed = () => answered;
    const reading = [get(), get('/api/group/one/usage')];
    while (asked.length < 2) await new Promise((resolve) => setTimeout(resolve, 5));
    await get('/api/group/two/usage', token, 503);
    answer([]);
    await Promise.all(reading);
    expect(asked).toHaveLength(2);
    await get('/api/group/two/usage');
  });

  test.each([
    ['the cluster has no metrics', new ApiError('list', 404, 'NotFound', 'no such API'), 'metrics-server'],
    ['metrics-server does not respond', new ApiError('list', 503, 'ServiceUnavailable', 'down'), 'metrics-server'],
    ['the list is too large', new TooLargeError('too large'), 'too many pods'],
  ])('is not repeated if %s', async (_what, error, reason) => {
    listed = () => Promise.reject(error);
    expect(await get()).toEqual({ measured: false, reason: expect.stringContaining(reason) });
    await get();
    expect(asked).toHaveLength(1);
  });
});

test('hides a group from other accounts and from tokens for a repository', async () => {
  const { token: other } = await api.login('mallory@example.com');
  const body = {
    ...{ name: 'scoped', expirationTime: '2026-02-01T00:00:00Z' },
    scopes: { repositories: ['acme.shop'] },
  };
  const made = await request(api.app).post('/api/user/tokens').set('x-service-token', token).send(body).expect(201);
  await get(path, other, 404);
  await get(path, (made.body as { token: string }).token, 404);
  expect(asked).toEqual([]);
});
