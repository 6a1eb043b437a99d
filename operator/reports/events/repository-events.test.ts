import { expect, test } from '@jest/globals';
import type { Condition } from '../../../crds/conditions.ts';
import type { Repository } from '../../../crds/repository.ts';
import { repositoryEvents } from './repository-events.ts';

type Status = NonNullable<Repository['status']>;
const at = '2026-01-01T00:00:00Z';
const is = (type: string, status: Condition['status'], reason: string, message = 'why') => ({
  ...{ type, status, reason, message },
  lastTransitionTime: at,
});
const synced = (branches: number, reason = 'Synced', more: object = {}): Status => ({
  sync: { branches, tags: 1, at, ...more },
  conditions: [is('Synced', 'True', reason, 'synchronized')],
});
const repository = (status: Status): Repository => ({
  apiVersion: 'coppice.dev/v1alpha1',
  kind: 'Repository',
  metadata: { name: 'shop', namespace: 'group-acme', uid: 'u1' },
  spec: { type: 'generic', generic: { origin: 'http://git/shop.git' } },
  status,
});

const table: [string, Status, Status, string[]][] = [
  [
    'it can be read',
    {},
    { conditions: [is('Ready', 'True', 'Readable', 'it can be read')] },
    ['Normal Readable: it can be read'],
  ],
  ['the first sync', {}, synced(2), ['Normal Synced: synchronized: 2 branches, 1 tags']],
  [
    'one branch more',
    synced(2),
    synced(3, 'Synced', { pullRequests: 4 }),
    ['Normal Synced: synchronized: 3 branches, 1 tags, 4 open pull requests'],
  ],
  ['only a new commit', synced(2), { ...synced(2), sync: { branches: 2, tags: 1, at: '2026-01-02T00:00:00Z' } }, []],
  [
    'no longer all refs',
    synced(2),
    synced(2, 'SyncedInPart'),
    ['Normal SyncedInPart: synchronized: 2 branches, 1 tags'],
  ],
  [
    'the host is away',
    synced(2),
    { conditions: [is('Synced', 'False', 'HostUnreachable')] },
    ['Warning HostUnreachable: why'],
  ],
  [
    'it still is',
    { conditions: [is('Synced', 'False', 'HostUnreachable', 'a')] },
    { conditions: [is('Synced', 'False', 'HostUnreachable', 'b')] },
    [],
  ],
  ['it was suspended', synced(2), { conditions: [is('Synced', 'False', 'Suspended')] }, ['Normal Suspended: why']],
  ['it stalls', {}, { conditions: [is('Stalled', 'True', 'Forbidden', 'no')] }, ['Warning Forbidden: no']],
  ['nothing', synced(2), synced(2), []],
];

test.each(table)('%s', (_what, before, after, expected) => {
  const events = repositoryEvents(repository(before), repository(after));
  expect(events.map(({ type, reason, note }) => `${type} ${reason}: ${note}`)).toEqual(expected);
});
