import { createHmac } from 'node:crypto';
import { expect, test } from '@jest/globals';
import { GROUP_VERSION } from '../../crds/api-group.ts';
import { groupNamespace } from '../../crds/ids.ts';
import type { Repository } from '../../crds/repository.ts';
import type { Secret } from '../../kubernetes/resource-type.ts';
import { Receiver } from './receiver.ts';
import { REMEMBERED_PER_DAY, Replays } from './replays.ts';

const secret = 'whsec_c2VjcmV0';
const creators: Record<string, string | undefined> = { 'group-a1': 'a', 'group-a2': 'a', 'group-b': 'b' };
/** An hour before midnight UTC. */
const now = () => Date.parse('2026-01-02T23:00:00Z');

function repositoryIn(group: string): Repository {
  return {
    apiVersion: GROUP_VERSION,
    kind: 'Repository',
    metadata: { name: 'shop', namespace: groupNamespace(group), uid: `uid-${group}` },
    spec: { type: 'generic', generic: { origin: 'https://git.example.org/shop.git' } },
  };
}

function webhookSecretIn(group: string): Secret {
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: {
      name: 'webhook-shop',
      ownerReferences: [{ apiVersion: GROUP_VERSION, kind: 'Repository', name: 'shop', uid: `uid-${group}` }],
    },
    data: { secret: Buffer.from(secret).toString('base64') },
  };
}

const groupOf = (key: string) => key.split('/')[0]?.replace(/^group-/, '') ?? '';

function receiverWith(replays: Replays) {
  const asked: string[] = [];
  const receiver = new Receiver({
    cluster: { find: (_type, { namespace = '' }) => Promise.resolve(webhookSecretIn(groupOf(namespace)) as never) },
    cache: { get: (key) => repositoryIn(groupOf(key)) },
    replays,
    creatorOf: (namespace) => creators[namespace],
    syncRequests: {
      ask: ({ metadata }, event) => {
        asked.push(`${metadata.namespace}${event ? ', with an event' : ''}`);
        return Promise.resolve();
      },
    },
    approvalComments: { isAwaited: () => false, note: () => Promise.resolve() },
    now,
  });
  const deliver = (group: string, event: string) => {
    const body = JSON.stringify({ action: 'opened', number: 7, group, event });
    const headers: Record<string, string> = {
      'x-github-event': event,
      'x-hub-signature-256': `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`,
    };
    return receiver.receive('generic', `${group}.shop`, { header: (name) => headers[name], body: Buffer.from(body) });
  };
  return { deliver, asked };
}

test('limits the deliveries of all groups of one account in a day: further pushes only request a sync', async () => {
  const set = () => Promise.resolve('OK');
  const replays = new Replays({ set, del: set }, now);
  const { deliver, asked } = receiverWith(replays);
  await replays.take(
    { repositoryUid: 'uid-a1', tenant: 'a' },
    Array.from({ length: REMEMBERED_PER_DAY }, (_, index) => String(index)),
  );
  expect(await deliver('a1', 'push')).toBe('queued');
  await expect(deliver('a2', 'pull_request')).rejects.toMatchObject({
    status: 503,
    headers: { 'Retry-After': '3600' },
    message:
      'the groups of the account that created this one had too many deliveries today. Deliver it again after midnight UTC',
  });
  expect(await deliver('b', 'pull_request')).toBe('queued');
  expect(await deliver('gitops', 'pull_request')).toBe('queued');
  expect(asked).toEqual(['group-a1', 'group-a2', 'group-b, with an event', 'group-gitops, with an event']);
});
