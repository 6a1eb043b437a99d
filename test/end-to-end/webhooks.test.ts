import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { githubDelivery } from '../client/github-delivery.ts';
import { send } from '../client/local-http.ts';
import { objectOf } from '../client/object-of.ts';
import { webhookOf, type WebhookAnswer } from '../client/webhook-of.ts';
import { waitFor } from '../support/wait-for.ts';
import { startHarness, type Harness } from './harness.ts';

const repositorySchema = z.looseObject({
  environments: z.array(z.object({ gitRef: z.object({ name: z.string(), type: z.string() }) })),
});

let harness: Harness;
let repository: string;
let webhook: WebhookAnswer;

beforeAll(async () => {
  harness = await startHarness('webhooks');
  repository = await harness.addRepository('shop', await harness.push('shop', 'main'));
  webhook = await webhookOf(harness.client, repository);
}, 60_000);
afterAll(() => harness.remove(), 30_000);

interface Sent {
  url?: string;
  event?: string;
  id?: string;
  body?: object;
  secret?: string;
}

/** Sends a delivery; returns the response, and its duration in milliseconds. */
async function deliver({ url = webhook.url, event = 'push', id = randomUUID(), body = {}, secret }: Sent = {}) {
  const delivery = githubDelivery(secret ?? webhook.secret, event, { delivery: id, ...body }, id);
  const started = performance.now();
  const answer = await send(url, delivery);
  return { ...answer, milliseconds: performance.now() - started };
}

const pullRequest = (action: string, number: number) => ({
  event: 'pull_request',
  body: { action, number, pull_request: { number, updated_at: new Date().toISOString() } },
});

async function refs(): Promise<string[]> {
  const { environments } = await harness.client.call(repositorySchema, 'GET', `/api/repository/${repository}`);
  return environments.map(({ gitRef }) => `${gitRef.type} ${gitRef.name}`).sort();
}

function waitForRefs(expected: string[]): Promise<string[]> {
  return waitFor(`environments of ${expected.join(', ')}`, 90, async () => {
    const found = await refs();
    if (found.join() !== expected.join()) throw new Error(`there are ${found.join(', ')}`);
    return found;
  });
}

test('shows the webhook of this repository to be entered, and creates nothing at the host', () => {
  expect(webhook.url).toBe(`${harness.connection.apiUrl}/api/webhooks/generic/${repository}`);
  expect(webhook.created).toBe(false);
});

test('creates an environment for a pushed branch, and for a pull request while it is open', async () => {
  await harness.push('shop', 'feature');
  expect((await deliver()).status).toBe(202);
  await waitForRefs(['branch feature', 'branch main']);
  expect((await deliver(pullRequest('opened', 7))).status).toBe(202);
  await waitForRefs(['branch feature', 'branch main', 'pull request 7']);
  expect((await deliver(pullRequest('closed', 7))).status).toBe(202);
  await waitForRefs(['branch feature', 'branch main']);
}, 300_000);

describe('a delivery without a valid signature', () => {
  test.each<[string, () => Sent]>([
    ['with another secret', () => ({ secret: 'guess' })],
    ["for another repository than the secret's", () => ({ url: `${webhook.url}-other` })],
    ['in a group that does not exist', () => ({ url: webhook.url.replace(harness.group, 'no-such-group') })],
    ['of another type', () => ({ url: webhook.url.replace('/generic/', '/ownerhost/') })],
  ])('%s is answered with the same 401', async (_name, sent) => {
    const answer = await deliver(sent());
    expect(answer.status).toBe(401);
    expect(JSON.parse(answer.text)).toEqual({
      error:
        'the delivery is not signed with the secret of such a repository. Copy address and secret from its settings',
    });
  });
});

test('ignores a repeated delivery', async () => {
  const id = randomUUID();
  expect(JSON.parse((await deliver({ id })).text)).toEqual({ result: 'queued' });
  expect(JSON.parse((await deliver({ id })).text)).toEqual({ result: 'repeated' });
});

test('answers a delivery before the sync that it requests, and accepts a burst', async () => {
  const times: number[] = [];
  for (let count = 0; count < 20; count++) times.push((await deliver()).milliseconds);
  // A sync asks the Git host, and takes seconds beside other suites. The benchmark measures the answer itself.
  expect(Math.min(...times)).toBeLessThan(1000);
  const burst = await Promise.all(Array.from({ length: 50 }, () => deliver()));
  expect(burst.map(({ status }) => status)).toEqual(Array(50).fill(202));
}, 60_000);

test('creates a deleted Secret again with another secret at the next sync', async () => {
  const { namespace, name } = objectOf(repository);
  await harness.kubectl(['delete', 'secret', '--namespace', namespace, `webhook-${name}`]);
  // Each replica remembers a secret that has signed a delivery for a second.
  await delay(1000);
  expect((await deliver()).status).toBe(401);
  await harness.sync(repository);
  const former = webhook.secret;
  webhook = await webhookOf(harness.client, repository, ({ secret }) => secret !== former);
  expect((await deliver()).status).toBe(202);
  expect((await deliver({ secret: former })).status).toBe(401);
}, 60_000);
