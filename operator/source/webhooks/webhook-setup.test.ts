import { describe, expect, test } from '@jest/globals';
import type { Repository } from '../../../crds/repository.ts';
import { ApiError } from '../../../kubernetes/api-error.ts';
import { ownerReference } from '../../../kubernetes/owner.ts';
import type { Secret } from '../../../kubernetes/resource-type.ts';
import type { Webhook } from '../hosts/host.ts';
import { Waiting } from '../../shared/errors.ts';
import { HostBusyError, SourceRefusedError, SourceUnreachableError } from '../errors.ts';
import { WebhookSecrets } from './webhook-secrets.ts';
import { WebhookSetup } from './webhook-setup.ts';

const url = 'https://coppice.example.com/api/webhooks/ownerhost/acme.shop';
const secretName = 'webhook-shop';
const location = { type: 'ownerhost', owner: 'o', repo: 'r' };
const text = `whsec_${Buffer.alloc(32).toString('base64')}`;

function setUp({
  webUrl = 'https://github.com/o/r',
  answer = () => Promise.resolve('17'),
}: { webUrl?: string; answer?: () => Promise<string | undefined> } = {}) {
  const stored = new Map<string, Secret>();
  const asked: Webhook[] = [];
  /** Removed webhooks: `<repository's name at the host> <id>` */
  const removed: string[] = [];
  const warned: string[] = [];
  const client = {
    find: (_type: unknown, { name }: { name: string }) => Promise.resolve(stored.get(name)),
    create: (_type: unknown, secret: Secret) => {
      stored.set(secret.metadata.name, secret);
      return Promise.resolve(secret);
    },
    delete: (_type: unknown, { name }: { name: string }) => Promise.resolve(stored.delete(name)),
  };
  const hostOf = ({ spec }: Repository) => ({
    webUrl,
    ensureWebhook: (webhook: Webhook) => {
      asked.push(webhook);
      return answer();
    },
    removeWebhook: async (id: string) => {
      removed.push(`${spec.ownerhost?.repo ?? ''} ${id}`);
      await answer();
    },
  });
  const setup = new WebhookSetup({
    secrets: new WebhookSecrets({ client: client as never, randomBytes: (size) => Buffer.alloc(size) }),
    hosts: { of: (repository) => Promise.resolve(hostOf(repository) as never) },
    apiUrl: new URL('https://coppice.example.com'),
    takesComments: ({ spec }) => spec.forks?.approval === 'required',
    logger: { warn: (_fields, message) => warned.push(message) },
    now: () => new Date('2026-01-01T00:01:00Z'),
  });
  return { setup, stored, asked, removed, warned };
}

function repository(status: Repository['status'] = {}): Repository {
  return {
    apiVersion: 'coppice.dev/v1alpha1',
    kind: 'Repository',
    metadata: { namespace: 'group-acme', name: 'shop', uid: 'uid-of-shop', generation: 2 },
    spec: { type: 'ownerhost', ownerhost: { owner: 'o', repo: 'r' } },
    status,
  };
}

const recorded = (reason: string, observedGeneration = 2) => ({
  conditions: [
    { type: 'Webhook', status: 'True' as const, reason, message: '', observedGeneration, lastTransitionTime: '' },
  ],
});

test('creates a secret that is deleted with the Repository, and the webhook', async () => {
  const { setup, stored, asked } = setUp();
  expect(await setup.ensure(repository())).toEqual({
    webhook: { url, secretName, id: '17', location },
    report: { type: 'Webhook', status: 'True', reason: 'Created', message: expect.any(String) },
  });
  expect(asked).toEqual([{ url, secret: text, comments: false }]);
  expect(stored.get(secretName)).toMatchObject({
    metadata: { namespace: 'group-acme', ownerReferences: [{ kind: 'Repository', name: 'shop', uid: 'uid-of-shop' }] },
    data: { secret: Buffer.from(text).toString('base64') },
  });
});

describe('without a webhook at the host, it is shown to be entered manually', () => {
  test.each<[string, Parameters<typeof setUp>[0], RegExp]>([
    ['ToBeEntered', { answer: () => Promise.resolve(undefined) }, /^Coppice cannot create/],
    [
      'ToBeEntered',
      { answer: () => Promise.reject(new SourceRefusedError('Refused', 'github.com refuses the URL')) },
      /^github.com refuses the URL: enter/,
    ],
    ['HostUnreachable', { answer: () => Promise.reject(new HostBusyError('come back', 1000)) }, /^come back$/],
  ])('reports %s', async (reason, options, message) => {
    const { setup } = setUp(options);
    const state = await setup.ensure(repository());
    expect(state?.webhook).toEqual({ url, secretName });
    expect(state?.report).toMatchObject({ status: 'False', reason, message: expect.stringMatching(message) });
  });

  test('if a host on the internet would need an address of this network', async () => {
    const { asked } = setUp();
    const setup = new WebhookSetup({
      secrets: {
        ensure: () => Promise.resolve({ secret: text, isNew: true }),
        remove: () => Promise.resolve(),
      },
      hosts: { of: () => Promise.resolve({ webUrl: 'https://github.com/o/r' } as never) },
      apiUrl: new URL('http://coppice.localhost:8080'),
      takesComments: () => false,
      logger: { warn: () => undefined },
      now: () => new Date(0),
    });
    expect(await setup.ensure(repository())).toMatchObject({
      webhook: { url: 'http://coppice.localhost:8080/api/webhooks/ownerhost/acme.shop', secretName },
      report: { status: 'False', reason: 'NotReachable' },
    });
    expect(asked).toEqual([]);
  });
});

test.each([
  ['its own without the key', { uid: 'uid-of-shop', data: {} }],
  ["a former Repository's", { uid: 'uid-of-former', data: { secret: 'eA==' } }],
])('does not take a Secret of the name that is %s', async (_name, { uid, data }) => {
  const { setup, stored, asked } = setUp();
  stored.set(secretName, {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: secretName, ownerReferences: [{ apiVersion: 'v', kind: 'Repository', name: 'shop', uid }] },
    data,
  });
  expect(await setup.ensure(repository())).toMatchObject({
    webhook: undefined,
    report: { status: 'False', reason: 'SecretTaken', message: expect.stringContaining(secretName) },
    recheckAfterMs: 2000,
  });
  expect(asked).toEqual([]);
});

test("throws the cluster's own failure", async () => {
  const { setup } = setUp({ answer: () => Promise.reject(new ApiError('x', 500, 'InternalError', 'x')) });
  await expect(setup.ensure(repository())).rejects.toBeInstanceOf(ApiError);
});

describe('after a report', () => {
  const webhook = { url, secretName, id: '17' };
  test.each([
    ['as it is now', { ...recorded('Created'), webhook }, 0],
    ['of an earlier generation', { ...recorded('Created', 1), webhook }, 1],
    ['that the host did not answer', { ...recorded('HostUnreachable'), webhook }, 1],
    ['that the Secret was taken', recorded('SecretTaken'), 1],
    ['of another address', { ...recorded('Created'), webhook: { ...webhook, url: 'https://old' } }, 1],
  ])('%s, and the host is asked again or not', async (_name, status, times) => {
    const { setup, asked } = setUp();
    await setup.ensure(repository());
    asked.length = 0;
    const state = await setup.ensure(repository(status));
    expect(asked).toHaveLength(times);
    expect(state === undefined).toBe(times === 0);
  });

  test('creates a deleted Secret again, and updates the host', async () => {
    const { setup, asked } = setUp();
    await setup.ensure(repository({ ...recorded('Created'), webhook }));
    expect(asked).toHaveLength(1);
  });
});

describe('a webhook at a former location', () => {
  const former = { ...location, repo: 'former' };

  test('is removed there before one is created at the new one', async () => {
    const { setup, asked, removed, warned } = setUp();
    const state = await setup.ensure(
      repository({ ...recorded('Created', 1), webhook: { url, secretName, id: '9', location: former } }),
    );
    expect(removed).toEqual(['former 9']);
    expect(asked).toHaveLength(1);
    expect(state?.webhook).toEqual({ url, secretName, id: '17', location });
    expect(warned).toEqual([]);
  });

  test('is left there if the host does not respond, which is logged', async () => {
    const { setup, removed, warned } = setUp({ answer: () => Promise.reject(new HostBusyError('x', 1)) });
    const state = await setup.ensure(repository({ webhook: { url, secretName, id: '9', location: former } }));
    expect(removed).toEqual(['former 9']);
    expect(warned).toHaveLength(1);
    expect(state?.webhook).toEqual({ url, secretName });
  });

  test.each<Record<string, string>>([{ instanceUrl: 'https://former.example' }, { type: 'groupedhost' }])(
    'never receives the current credentials at another host: %j',
    async (other) => {
      const { setup, removed, warned } = setUp();
      await setup.ensure(repository({ webhook: { url, secretName, id: '9', location: { ...former, ...other } } }));
      expect(removed).toEqual([]);
      expect(warned).toHaveLength(1);
    },
  );
});

test('remembers the webhook at a host that does not respond meanwhile', async () => {
  const { setup } = setUp({ answer: () => Promise.reject(new HostBusyError('x', 1)) });
  const state = await setup.ensure(
    repository({ ...recorded('Created', 1), webhook: { url, secretName, id: '9', location } }),
  );
  expect(state?.webhook).toEqual({ url, secretName, id: '9', location });
});

describe('when the Repository is deleted', () => {
  const webhook = { url, secretName, id: '9', location };
  /** Deletes the Repository at this time; the clock shows 00:01:00. */
  const deletedAt = (time: string, status: Repository['status'] = { webhook }) => {
    const gone = repository(status);
    return { ...gone, metadata: { ...gone.metadata, deletionTimestamp: `2026-01-01T00:${time}Z` } };
  };
  const failing = (error: Error) => setUp({ answer: () => Promise.reject(error) });

  test('deletes its secret and the webhook that Coppice created', async () => {
    const { setup, stored, removed } = setUp();
    await setup.ensure(repository());
    await setup.remove(deletedAt('01:00'));
    expect(removed).toEqual(['r 9']);
    expect(stored.size).toBe(0);
  });

  test.each<[number, boolean]>([
    [403, true],
    [500, false],
  ])('keeps the Repository or not after the deletion of the Secret is answered %i', async (code, goes) => {
    const secret: Secret = {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: secretName, ownerReferences: [ownerReference(repository())] },
    };
    const refused = new ApiError('DELETE', code, 'x', 'by the policy coppice-operator-objects');
    const client = { find: () => Promise.resolve(secret), delete: () => Promise.reject(refused) };
    const secrets = new WebhookSecrets({ client: client as never, randomBytes: (size) => Buffer.alloc(size) });
    const removal = secrets.remove(repository()).then(
      () => true,
      () => false,
    );
    expect(await removal).toBe(goes);
  });

  test('deletes the webhook where it was created', async () => {
    const { setup, removed } = setUp();
    await setup.remove(deletedAt('01:00', { webhook: { ...webhook, location: { ...location, repo: 'former' } } }));
    expect(removed).toEqual(['former 9']);
  });

  test('deletes no webhook that a user entered', async () => {
    const { setup, removed } = setUp();
    await setup.remove(deletedAt('01:00', { webhook: { url, secretName } }));
    expect(removed).toEqual([]);
  });

  test.each<[string, Error, number]>([
    ['that does not answer is tried again', new SourceUnreachableError('no answer'), 10_000],
    ['that is busy is tried again when it says', new HostBusyError('come back', 59_000), 59_000],
  ])('handles a host %s', async (_which, error, afterMs) => {
    const { setup, warned } = failing(error);
    const removal = setup.remove(deletedAt('00:00'));
    await expect(removal).rejects.toBeInstanceOf(Waiting);
    await expect(removal).rejects.toMatchObject({ afterMs });
    expect(warned).toEqual([]);
  });

  test.each<[string, string, Error]>([
    ['that does not answer for 2 minutes', '2025-12-31T23:59:05Z', new SourceUnreachableError('no answer')],
    ['that is busy for longer', '2026-01-01T00:00:00Z', new HostBusyError('come back', 3600_000)],
    ['that refuses', '2026-01-01T00:01:00Z', new SourceRefusedError('NotFound', 'no such repository')],
  ])('is not delayed by a host %s', async (_which, deletionTimestamp, error) => {
    const { setup, warned } = failing(error);
    const gone = deletedAt('00:00');
    await setup.remove({ ...gone, metadata: { ...gone.metadata, deletionTimestamp } });
    expect(warned).toEqual(['a webhook could not be deleted at the Git host']);
  });

  test('does not skip the webhook after a failure of the cluster', async () => {
    const { setup } = failing(new ApiError('GET', 503, 'ServiceUnavailable', 'x'));
    await expect(setup.remove(deletedAt('01:00'))).rejects.toBeInstanceOf(ApiError);
  });
});

test('has comments reported as soon as they can approve, and no longer when they cannot', async () => {
  const { setup, asked } = setUp();
  const webhook = { url, secretName, id: '17', location };
  const of = (approval: 'required' | 'notRequired', comments: boolean) => {
    const one = repository({ webhook: { ...webhook, ...(comments && { comments }) }, ...recorded('Created') });
    return { ...one, spec: { ...one.spec, forks: { approval } } };
  };
  await setup.ensure(of('required', false));
  expect([setup.isDue(of('required', true)), setup.isDue(of('notRequired', false))]).toEqual([false, false]);
  expect(await setup.ensure(of('required', false))).toMatchObject({ webhook: { ...webhook, comments: true } });
  const withdrawn = await setup.ensure(of('notRequired', true));
  expect(withdrawn?.webhook).toEqual(webhook);
  expect(asked.map(({ comments }) => comments)).toEqual([true, true, false]);
});
