import { expect, test } from '@jest/globals';
import { pino } from 'pino';
import type { Environment } from '../../../crds/environment.ts';
import type { Repository } from '../../../crds/repository.ts';
import { auditRemovals, type Removal } from './removal-audit.ts';

const repository = {
  metadata: {
    namespace: 'group-acme',
    name: 'shop',
    annotations: {
      'coppice.dev/request-sync': '2026-01-01T00:00:00.000Z/from-ci.7',
      'coppice.dev/sync-requested-by': 'webhook',
    },
  },
} as unknown as Repository;
const environment = { metadata: { namespace: 'group-acme', name: 'shop-old' } } as unknown as Environment;

function lineOf(removal: Partial<Removal>): unknown {
  const lines: string[] = [];
  const logger = pino(
    { level: 'error', base: null, timestamp: false },
    { write: (line: string) => void lines.push(line) },
  );
  auditRemovals(logger)({ environment, what: 'object', repository, reason: 'RefGone', wasRequested: true, ...removal });
  expect(lines).toHaveLength(1);
  return JSON.parse(lines[0] ?? '');
}

const line = {
  level: 30,
  msg: 'audit',
  audit: true,
  actor: 'operator',
  reason: 'RefGone',
  repository: 'group-acme/shop',
};
const changes = [{ verb: 'delete', kind: 'Environment', key: 'group-acme/shop-old' }];

test('logs removals after a webhook at every level of the log', () => {
  expect(lineOf({})).toEqual({ ...line, requestId: 'from-ci.7', requestedBy: 'webhook', changes });
});

test('names no request for a removal by schedule', () => {
  expect(lineOf({ wasRequested: false })).toEqual({ ...line, changes });
});

test('logs the removal of contents of an object that stays', () => {
  const patched = [{ ...changes[0], verb: 'patch' }];
  expect(lineOf({ what: 'contents' })).toMatchObject({ reason: 'RefGone', changes: patched });
});
