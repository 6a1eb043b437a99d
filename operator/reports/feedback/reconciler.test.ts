import { expect, test } from '@jest/globals';
import { findCondition } from '../../../crds/conditions.ts';
import type { Environment, EnvironmentStatus } from '../../../crds/environment.ts';
import type { Repository } from '../../../crds/repository.ts';
import { ApiError } from '../../../kubernetes/api-error.ts';
import { WaitingError } from '../../../kubernetes/controller-errors.ts';
import type { CommentLocation, GitHost } from '../../source/hosts/host.ts';
import { HostBusyError, SourceRefusedError, SourceUnreachableError } from '../../source/errors.ts';
import { FeedbackReconciler } from './reconciler.ts';

const startedAt = '2026-01-01T00:00:10.000Z';
const now = new Date('2026-01-01T01:00:00Z');

interface WorldOptions {
  type?: Repository['spec']['type'];
  host?: Partial<GitHost>;
  writeError?: Error;
}

/** One environment of a pull request and its Git host, with the requests to both. */
function world({ type = 'ownerhost', host = {}, writeError }: WorldOptions = {}) {
  const requests: string[] = [];
  const written: EnvironmentStatus[] = [];
  const environment: Environment = {
    apiVersion: 'coppice.dev/v1alpha1',
    kind: 'Environment',
    metadata: { name: 'shop-7', namespace: 'group-acme', generation: 1 },
    spec: { repository: 'shop', gitRef: { name: '7', type: 'pull request' }, active: true, buildOnCreate: true },
    status: { state: 'building', build: { number: 1, result: 'running', commit: 'c1', startedAt } },
  };
  const repository = { metadata: { name: 'shop', generation: 1 }, spec: { type } } as Repository;
  const answering = {
    setStatus: (commit: string, { state }: { state: string }) => {
      requests.push(`${state} for ${commit}`);
      return Promise.resolve(true);
    },
    comment: ({ id }: CommentLocation) => {
      requests.push(`comment ${id ?? 'by its marker'}`);
      return Promise.resolve('9');
    },
    ...host,
  } as unknown as GitHost;
  const reconciler = new FeedbackReconciler({
    environments: { get: () => environment, byIndex: () => [environment] },
    repositories: { get: () => repository },
    hosts: { of: () => Promise.resolve(answering) },
    statuses: {
      write: (_object, status) => {
        if (writeError) return Promise.reject(writeError);
        written.push(structuredClone(status ?? {}));
        const others = (environment.status?.conditions ?? []).filter((one) => one.type !== 'Reported');
        const { feedback, conditions = [] } = status ?? {};
        environment.status = { ...environment.status, feedback, conditions: [...others, ...conditions] };
        return Promise.resolve();
      },
    },
    apiUrl: new URL('https://coppice.example.org'),
    now: () => now,
  });
  const reconcile = () => reconciler.reconcile('group-acme/shop-7');
  const reported = () => findCondition(environment.status?.conditions, 'Reported');
  return { environment, repository, requests, written, reconcile, reported };
}

test('writes a status and a comment once, and then sends no request', async () => {
  const { requests, written, reconcile, reported, environment } = world();
  await reconcile();
  expect(requests).toEqual(['comment by its marker', 'pending for c1']);
  expect(environment.status?.feedback).toMatchObject({ commit: 'c1', state: 'pending', commentId: '9' });
  expect(reported()).toMatchObject({
    status: 'True',
    message: 'the Git host shows pending for c1 and a comment on the pull request',
  });
  await reconcile();
  expect([requests.length, written.length]).toEqual([2, 1]);
});

test('updates the existing comment', async () => {
  const { environment, requests, reconcile } = world();
  environment.status = { ...environment.status, feedback: { commentId: '9' } };
  await reconcile();
  expect(requests).toEqual(['comment 9', 'pending for c1']);
});

test('sends nothing to a server that only speaks Git', async () => {
  const { requests, written, reconcile } = world({ type: 'generic' });
  await reconcile();
  expect([requests, written]).toEqual([[], []]);
});

test('writes nothing for a host without statuses and comments', async () => {
  const host = { setStatus: () => Promise.resolve(false), comment: () => Promise.resolve(undefined) };
  const { written, reconcile } = world({ host });
  await reconcile();
  expect(written).toEqual([]);
});

test('reports a token without write permission once, and tries again for the next result or a changed Repository', async () => {
  let tries = 0;
  const setStatus = () => {
    tries++;
    return Promise.reject(new SourceRefusedError('Forbidden', 'the token has no permission to write statuses'));
  };
  const { environment, repository, requests, written, reconcile, reported } = world({ host: { setStatus } });
  await reconcile();
  await reconcile();
  expect(tries).toBe(1);
  expect(requests).toEqual(['comment by its marker']);
  expect(reported()).toMatchObject({ status: 'False', reason: 'Forbidden' });
  expect(reported()?.message).toContain('the token has no permission to write statuses');
  repository.metadata.generation = 2;
  await reconcile();
  expect(tries).toBe(2);
  environment.status = {
    ...environment.status,
    build: { number: 1, result: 'failed', commit: 'c1', startedAt, message: 'no' },
  };
  await reconcile();
  await reconcile();
  expect([tries, written.length]).toEqual([3, 3]);
});

test('still reports what is not refused', async () => {
  const refuse = () => Promise.reject(new SourceRefusedError('Forbidden', 'no comments'));
  const { requests, environment, reconcile, reported } = world({ host: { comment: refuse } });
  await reconcile();
  expect(environment.status?.feedback).toMatchObject({ commit: 'c1', state: 'pending' });
  expect(reported()).toMatchObject({ status: 'False' });
  await reconcile();
  expect(requests).toEqual(['pending for c1']);
});

test('retries later at a host that limits requests, without repeating what succeeded', async () => {
  let busy = true;
  const setStatus = () => (busy ? Promise.reject(new HostBusyError('come back later', 42_000)) : Promise.resolve(true));
  const { requests, reconcile, reported } = world({ host: { setStatus } });
  const error = await reconcile().catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(WaitingError);
  expect(error).toMatchObject({ afterMs: 42_000 });
  busy = false;
  await reconcile();
  expect(requests).toEqual(['comment by its marker']);
  expect(reported()?.status).toBe('True');
});

test('retries with backoff at a host that does not respond', async () => {
  const setStatus = () => Promise.reject(new SourceUnreachableError('git.example.com does not answer'));
  await expect(world({ host: { setStatus } }).reconcile()).rejects.toThrow(SourceUnreachableError);
});

test('ignores an environment that is deleted meanwhile', async () => {
  const gone = new ApiError('PATCH /status', 404, 'NotFound', 'there is no shop-7');
  await expect(world({ writeError: gone }).reconcile()).resolves.toEqual({});
});

test('writes one comment for two concurrent environments of a pull request', async () => {
  const comments = new Map<string, string>();
  let made = 0;
  const [first, second] = ['shop-7', 'shop-7-clone'].map((name): Environment => ({
    apiVersion: 'coppice.dev/v1alpha1',
    kind: 'Environment',
    metadata: { name, namespace: 'group-acme', generation: 1 },
    spec: { repository: 'shop', gitRef: { name: '7', type: 'pull request' }, active: true, buildOnCreate: true },
    status: { state: 'building', build: { number: 1, result: 'running', commit: 'c1', startedAt } },
  })) as [Environment, Environment];
  let beforeWrite: () => void = () => undefined;
  const host = {
    setStatus: () => Promise.resolve(true),
    comment: async ({ id, marker }: CommentLocation, body: string) => {
      const found = id ?? [...comments].find(([, text]) => text.includes(marker))?.[0] ?? String((made += 1));
      beforeWrite();
      await new Promise((resolve) => setImmediate(resolve));
      comments.set(found, body);
      return found;
    },
  } as unknown as GitHost;
  const reconciler = new FeedbackReconciler({
    environments: {
      get: (key) => [first, second].find(({ metadata }) => key.endsWith(`/${metadata.name}`)),
      byIndex: () => [first, second],
    },
    repositories: { get: () => ({ metadata: { name: 'shop' }, spec: { type: 'ownerhost' } }) as Repository },
    hosts: { of: () => Promise.resolve(host) },
    statuses: {
      write: (object, status) => {
        const one = object.metadata.name === 'shop-7' ? first : second;
        one.status = { ...one.status, feedback: status?.feedback };
        return Promise.resolve();
      },
    },
    apiUrl: new URL('https://coppice.example.org'),
    now: () => now,
  });
  // The environment that writes is deleted while the host creates the comment, so the other one takes it over.
  let other = Promise.resolve({});
  beforeWrite = () => {
    beforeWrite = () => undefined;
    first.metadata.deletionTimestamp = '2026-01-02T00:00:00Z';
    other = reconciler.reconcile('group-acme/shop-7-clone');
  };
  await reconciler.reconcile('group-acme/shop-7');
  await other;
  expect([...comments.keys()]).toEqual(['1']);
  expect(comments.get('1')).not.toContain('shop-7**');
  expect(comments.get('1')).toContain('shop-7-clone**');
});
