import { createHmac } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { beforeEach, describe, expect, jest, test } from '@jest/globals';
import request from 'supertest';
import { notedComments } from '../../crds/approval-comments.ts';
import { ENVIRONMENT } from '../../crds/environment.ts';
import { GROUP, type Group } from '../../crds/group.ts';
import { notedPullRequests } from '../../crds/pull-request-events.ts';
import { REPOSITORY, type Repository } from '../../crds/repository.ts';
import { ApiError, UnreachableError } from '../../kubernetes/api-error.ts';
import { Secret } from '../../kubernetes/resource-type.ts';
import { TestApi } from '../testing/test-api.ts';

const secret = 'whsec_c2VjcmV0';
let api: TestApi;

beforeEach(async () => {
  ({ api } = await TestApi.withShop());
  addSecret('webhook-shop', repository()?.metadata.uid ?? '');
});

const repository = () => api.cluster.all<Repository>(REPOSITORY).find(({ metadata }) => metadata.name === 'shop');
const syncRequest = () => repository()?.metadata.annotations?.['coppice.dev/request-sync'];

function addSecret(name: string, uid: string, value = secret) {
  api.cluster.add(Secret, {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: {
      namespace: 'group-acme',
      name,
      ownerReferences: [{ apiVersion: 'v', kind: 'Repository', name: 'shop', uid }],
    },
    data: { secret: Buffer.from(value).toString('base64') },
  });
}

const sign = (body: string, by = secret) => `sha256=${createHmac('sha256', by).update(body).digest('hex')}`;

interface Sent {
  path?: string;
  body?: string;
  event?: string;
  id?: string;
  signature?: string;
}

function deliver({ path = 'generic/acme.shop', body = '{}', event = 'push', id = 'd-1', signature }: Sent = {}) {
  return request(api.app)
    .post(`/api/webhooks/${path}`)
    .set('content-type', 'application/json')
    .set('x-github-event', event)
    .set('x-github-delivery', id)
    .set('x-hub-signature-256', signature ?? sign(body))
    .send(body);
}

const pull = (action: string, number: number, updated_at = new Date(api.now).toISOString()) =>
  JSON.stringify({ action, number, pull_request: { updated_at } });

test('requests a sync for a signed push, without a token', async () => {
  const answer = await deliver().expect(202);
  expect(answer.body).toEqual({ result: 'queued' });
  expect(syncRequest()).toMatch(/^2026-01-02T00:00:00.000Z\//);
});

test('checks the signature of the body as sent, not as parsed', async () => {
  const body = '{ "a":1.0,\n"ä": "\\u00e4" }';
  await deliver({ body }).expect(202);
  await deliver({ body: '{"a":1,"ä":"ä"}', id: 'd-2', signature: sign(body) }).expect(401);
});

describe('answers every delivery without a valid signature with the same 401', () => {
  test.each<[string, Sent]>([
    ['another secret', { signature: sign('{}', 'guess') }],
    ['no signature', { signature: '' }],
    ['a repository that does not exist', { path: 'generic/acme.none' }],
    ['a group that does not exist', { path: 'generic/none.shop' }],
    ['no id', { path: 'generic/%2e%2e' }],
    ['another type', { path: 'ownerhost/acme.shop' }],
    ['no type', { path: 'constructor/acme.shop' }],
    ['the signature that a missing secret would give', { path: 'generic/acme.none', signature: sign('{}', 'none') }],
    ['the signature that an empty secret would give', { path: 'generic/acme.none', signature: sign('{}', '') }],
  ])('sent with %s', async (_name, sent) => {
    const started = performance.now();
    const answer = await deliver(sent);
    expect(answer.status).toBe(401);
    expect(answer.body).toEqual({
      error:
        'the delivery is not signed with the secret of such a repository. Copy address and secret from its settings',
    });
    expect(performance.now() - started).toBeGreaterThan(48);
    expect(syncRequest()).toBeUndefined();
  });

  test('signed with a Secret that the repository does not own', async () => {
    api.addRepository('acme', 'other');
    addSecret('webhook-other', repository()?.metadata.uid ?? '');
    await deliver({ path: 'generic/acme.other' }).expect(401);
  });

  test('signed with an empty secret', async () => {
    const { metadata } = api.addRepository('acme', 'other');
    addSecret('webhook-other', metadata.uid ?? '', '');
    await deliver({ path: 'generic/acme.other', signature: sign('{}', '') }).expect(401);
  });
});

describe('hides the message of the API server', () => {
  test.each<[string, Error, number]>([
    ['nothing', new UnreachableError('GET'), 503],
    ['429', new ApiError('GET', 429, 'TooManyRequests', 'slow down'), 503],
    ['403', new ApiError('GET', 403, 'Forbidden', 'no such namespace'), 401],
  ])('for %s', async (_what, failure, status) => {
    const answers: [number, string][] = [];
    for (const path of ['generic/acme.shop', 'generic/acme.none', 'ownerhost/acme.shop', 'generic/none.shop']) {
      api.cluster.failure = failure;
      const started = performance.now();
      const answer = await deliver({ path, signature: '' });
      expect(performance.now() - started).toBeGreaterThan(48);
      answers.push([answer.status, answer.text]);
    }
    expect(answers[0]).toEqual([status, expect.anything()]);
    expect(answers).toEqual(answers.map(() => answers[0]));
  });
});

test('ignores a repeated delivery, recognized by its body, because the ID is not signed', async () => {
  await deliver().expect(202);
  const first = syncRequest();
  api.now += 1000;
  expect((await deliver().expect(202)).body).toEqual({ result: 'repeated' });
  expect((await deliver({ id: 'd-2' }).expect(202)).body).toEqual({ result: 'repeated' });
  expect(syncRequest()).toBe(first);
  await deliver({ body: '{"other": 2}', id: 'd-3' }).expect(202);
  expect(syncRequest()).not.toBe(first);
});

test('recognizes deliveries of Bitbucket by their body for 5 minutes, because a branch may move back', async () => {
  const { metadata } = api.addRepository('acme', 'bucket', {
    type: 'workspacehost',
    generic: undefined,
    workspacehost: { workspace: 'w', repository: 'r' },
  });
  addSecret('webhook-bucket', metadata.uid ?? '');
  const send = async (uuid: string) => {
    const body = '{"push":{}}';
    const answer = await request(api.app)
      .post('/api/webhooks/workspacehost/acme.bucket')
      .set({ 'x-event-key': 'repo:push', 'x-request-uuid': uuid, 'x-hub-signature': sign(body) })
      .set('content-type', 'application/json')
      .send(body)
      .expect(202);
    return answer.body as unknown;
  };
  expect(await send('d-1')).toEqual({ result: 'queued' });
  expect(await send('d-2')).toEqual({ result: 'repeated' });
  api.now += 5 * 60_000;
  expect(await send('d-2')).toEqual({ result: 'queued' });
});

test('remembers 60 deliveries a minute; further ones request a sync, and events must be delivered again', async () => {
  const send = (index: number, sent: Sent = {}) => deliver({ body: `{"n":${index}}`, id: `d-${index}`, ...sent });
  for (let index = 0; index < 60; index++) await send(index).expect(202);
  const { size } = api.redis.entries;
  const before = syncRequest();
  api.now += 1000;
  expect((await send(60).expect(202)).body).toEqual({ result: 'queued' });
  expect(syncRequest()).not.toBe(before);
  const beyond = await send(61, { event: 'pull_request', body: pull('opened', 7) }).expect(503);
  expect(beyond.headers['retry-after']).toBe('60');
  expect(api.redis.entries.size).toBe(size);
  expect(notedPullRequests(repository()?.metadata.annotations)).toEqual([]);
  api.now += 60_000;
  await send(61, { event: 'pull_request', body: pull('opened', 7) }).expect(202);
  expect(notedPullRequests(repository()?.metadata.annotations)).toHaveLength(1);
});

test('accepts a repetition of a delivery that could not be written', async () => {
  api.cluster.patchFailures.set('Repository', new UnreachableError('PATCH'));
  await deliver().expect(503);
  api.cluster.patchFailures.clear();
  expect((await deliver().expect(202)).body).toEqual({ result: 'queued' });
});

test('reads the secret once for a burst, and again a second later or for another signature', async () => {
  const reads = jest.spyOn(api.cluster, 'find');
  const send = (index: number, by = secret) => {
    const body = `{"n":${index}}`;
    return deliver({ body, id: `d-${index}`, signature: sign(body, by) });
  };
  await send(1).expect(202);
  await send(2).expect(202);
  expect(reads).toHaveBeenCalledTimes(1);
  const data = { secret: Buffer.from('other').toString('base64') };
  api.cluster.change(Secret, { namespace: 'group-acme', name: 'webhook-shop' }, { data });
  await send(3, 'guess').expect(401);
  await send(4, 'other').expect(202);
  await send(5).expect(401);
  expect(reads).toHaveBeenCalledTimes(4);
  await delay(1000);
  await send(6, 'other').expect(202);
  expect(reads).toHaveBeenCalledTimes(5);
});

test('answers 503 while Redis cannot be reached', async () => {
  api.redis.failure = new Error('ECONNREFUSED 10.0.0.1');
  const answer = await deliver().expect(503);
  expect(answer.text).not.toContain('10.0.0.1');
});

test('ignores pings and similar deliveries', async () => {
  expect((await deliver({ event: 'ping' }).expect(202)).body).toEqual({ result: 'ignored' });
  expect(syncRequest()).toBeUndefined();
});

describe('pull request events of a host without a list', () => {
  const noted = () => notedPullRequests(repository()?.metadata.annotations);

  test('are recorded', async () => {
    await deliver({ event: 'pull_request', body: pull('opened', 7) }).expect(202);
    await deliver({ event: 'pull_request', body: pull('closed', 8), id: 'd-2' }).expect(202);
    expect(noted()).toMatchObject([
      { number: 7, isOpen: true },
      { number: 8, isOpen: false },
    ]);
    expect(syncRequest()).toBeDefined();
  });

  test('are not recorded if older than repetitions are known, and only request a sync', async () => {
    const body = pull('opened', 7, new Date(api.now - 25 * 3600_000).toISOString());
    await deliver({ event: 'pull_request', body }).expect(202);
    expect(noted()).toEqual([]);
    expect(syncRequest()).toBeDefined();
  });

  test('are not recorded if the host has a list', async () => {
    const { metadata } = api.addRepository('acme', 'hub', {
      type: 'ownerhost',
      generic: undefined,
      ownerhost: { owner: 'o', repo: 'r' },
    });
    addSecret('webhook-hub', metadata.uid ?? '');
    await deliver({ path: 'ownerhost/acme.hub', event: 'pull_request', body: pull('opened', 7) }).expect(202);
    const hub = api.cluster.all<Repository>(REPOSITORY).find((one) => one.metadata.name === 'hub');
    expect(Object.keys(hub?.metadata.annotations ?? {})).toEqual([
      'coppice.dev/request-sync',
      'coppice.dev/sync-requested-by',
    ]);
  });

  test('that cannot be read are answered with 422', async () => {
    const answer = await deliver({ event: 'pull_request', body: '{}' }).expect(422);
    expect(answer.body).toMatchObject({ details: [{ path: 'action' }, { path: 'number' }] });
  });
});

test('answers 413 to a body over 1 MiB', async () => {
  await deliver({ body: `"${'a'.repeat(1024 * 1024)}"` }).expect(413);
  expect(syncRequest()).toBeUndefined();
});

test('refuses a compressed body, because the signature covers what was sent', async () => {
  await deliver().set('content-encoding', 'gzip').expect(422);
});

test('limits deliveries by address', async () => {
  api = new TestApi({ limits: { loginsPerMinute: 10, requestsPerMinute: 2 } });
  await deliver().expect(401);
  await deliver().expect(401);
  const answer = await deliver().expect(429);
  expect(Number(answer.headers['retry-after'])).toBeGreaterThan(0);
});

test("logs which repository's sync was requested, in the audit log and at the Repository", async () => {
  const requestedBy = () => repository()?.metadata.annotations?.['coppice.dev/sync-requested-by'];
  await deliver().expect(202);
  expect(requestedBy()).toBe('webhook');
  const { user, token } = await api.login('bob@example.com');
  api.cluster.change<Group>(GROUP, { name: 'acme' }, { spec: { members: ['alice@example.com', 'bob@example.com'] } });
  await request(api.app).post('/api/repository/acme.shop/sync').set('x-service-token', token).expect(202);
  expect(requestedBy()).toBe(user.accountId);
  // A line is written once the connection has closed.
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect(api.audited.map(({ credential }) => credential)).toEqual(['webhook', 'login']);
});

describe('a comment that approves a commit', () => {
  const commit = 'a'.repeat(40);
  const at = { namespace: 'group-acme', name: 'shop' };
  const notes = () => notedComments(repository()?.metadata.annotations);
  const comment = (id: number, user: number, text = `/coppice approve ${commit}`) => ({
    path: 'ownerhost/acme.shop',
    event: 'issue_comment',
    body: JSON.stringify({
      ...{ action: 'created', issue: { number: 7, pull_request: {} } },
      comment: { id, body: text, user: { id: user } },
    }),
  });
  const wait = (waitingCommit: string | undefined) => {
    const gitRef = { name: '7', type: 'pull request' };
    const { metadata } = api.addEnvironment('acme', 'shop-pr-7', 'shop', {});
    api.cluster.change(ENVIRONMENT, metadata, { spec: { gitRef }, status: { approval: { waitingCommit } } });
  };
  beforeEach(() => {
    const spec = { type: 'ownerhost', generic: null, ownerhost: { owner: 'acme', repo: 'shop' } };
    api.cluster.change(REPOSITORY, at, { spec });
  });

  test('is recorded for the operator, once for each author, and requests no sync', async () => {
    wait(commit);
    expect((await deliver(comment(3, 5)).expect(202)).body).toEqual({ result: 'queued' });
    expect((await deliver(comment(3, 5)).expect(202)).body).toEqual({ result: 'repeated' });
    await deliver(comment(4, 6)).expect(202);
    await deliver(comment(8, 5)).expect(202);
    expect(notes()).toMatchObject([
      { pullRequest: 7, comment: '8', author: '5' },
      { pullRequest: 7, comment: '4', author: '6' },
    ]);
    expect(syncRequest()).toBeUndefined();
  });

  test.each<[string, string | undefined, string | undefined]>([
    ['of a commit that does not wait', 'b'.repeat(40), undefined],
    ['where none waits', undefined, undefined],
    ['with another text', commit, 'hello'],
  ])('%s is ignored', async (_what, waiting, text) => {
    wait(waiting);
    expect((await deliver(comment(3, 5, text)).expect(202)).body).toEqual({ result: 'ignored' });
    expect(notes()).toEqual([]);
  });

  test('is refused while too many wait to be read', async () => {
    wait(commit);
    for (let author = 1; author <= 20; author++) await deliver(comment(author, author)).expect(202);
    await deliver(comment(21, 21)).expect(503);
    await deliver(comment(22, 20)).expect(202);
    expect(notes()).toHaveLength(20);
  });
});
