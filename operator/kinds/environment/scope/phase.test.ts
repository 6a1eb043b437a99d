import { expect, test } from '@jest/globals';
import { Stalled } from '../../../shared/errors.ts';
import { ApiError } from '../../../../kubernetes/api-error.ts';
import type { Environment } from '../../../../crds/environment.ts';
import { finalStatus } from '../status/final-status.ts';
import { scopeOf } from '../testing/scope.ts';
import { andThen, runPhases } from './phase.ts';
import type { EnvironmentScope } from './scope.ts';

const environment: Environment = {
  apiVersion: 'coppice.dev/v1alpha1',
  kind: 'Environment',
  metadata: { name: 'shop-main', namespace: 'group-acme', uid: 'u1', generation: 1 },
  spec: { repository: 'shop', gitRef: { name: 'main', type: 'branch' }, active: true, buildOnCreate: true },
  status: { commit: 'c0', revision: 'r0' },
};
const scope = scopeOf(environment, () => new Date('2026-01-01T00:00:00Z'));
const available = { Available: { status: 'True', reason: 'Running', message: '' } } as const;

test('passes the contributions of earlier phases to each phase, and leaves the given scope unchanged', async () => {
  const seen: unknown[] = [];
  const result = await runPhases(
    [
      () => ({ status: { commit: 'c1' }, observed: { isPresent: true } }),
      ({ status, isPresent }) => {
        seen.push([status.commit, status.revision, isPresent]);
        return { status: { revision: undefined } };
      },
    ],
    scope,
  );
  expect(seen).toEqual([['c1', 'r0', true]]);
  expect(scope.with(result).status).toEqual({ commit: 'c1', revision: undefined });
  expect(scope.status).toEqual({ commit: 'c0', revision: 'r0' });
});

test('fails a phase that changes the status of its scope', async () => {
  const change = ({ status }: EnvironmentScope) => {
    Object.assign(status, { commit: 'c1' });
    return {};
  };
  expect(await runPhases([change], scope)).toMatchObject({ failure: expect.any(TypeError) });
});

test('lets a later phase remove a condition of an earlier one', async () => {
  const reported = await runPhases([() => ({ conditions: available })], scope);
  expect(finalStatus(scope.with(reported)).conditions).toMatchObject([{ type: 'Available' }]);
  const removed = await andThen(scope, reported, () => ({ conditions: { Available: undefined } }));
  expect(finalStatus(scope.with(removed)).conditions).toEqual([]);
});

test.each([
  ['throws', () => Promise.reject(new Error('cut off')), 'cut off'],
  ['returns its failure', () => ({ status: { commit: 'c2' }, failure: new Error('cut off') }), 'cut off'],
])('ends the reconcile with a phase that %s, and keeps the contributions', async (_, phase, message) => {
  let isReached = false;
  const after = () => {
    isReached = true;
    return {};
  };
  const result = await runPhases([() => ({ status: { revision: 'r1' } }), phase, after], scope);
  expect(result).toMatchObject({ status: { revision: 'r1' }, failure: { message } });
  expect(isReached).toBe(false);
});

test('converts a refusal of the API server to Stalled', async () => {
  const refused = new ApiError('PUT', 422, 'Invalid', 'spec: is wrong');
  const { failure } = await runPhases([() => Promise.reject(refused)], scope);
  expect(failure).toBeInstanceOf(Stalled);
});

test('writes the status after a phase that requests it, before the next one', async () => {
  const calls: unknown[] = [];
  const write = (written: EnvironmentScope) => Promise.resolve(void calls.push(`write ${written.status.commit ?? ''}`));
  const phases = [
    () => ({ status: { commit: 'c1' }, write: true }),
    () => ({ status: { commit: 'c2' } }),
    () => {
      calls.push('act');
      return {};
    },
  ];
  await runPhases(phases, scope, write);
  expect(calls).toEqual(['write c1', 'act']);
});

test('requeues at the earliest time, and skips the phases after one that is done', async () => {
  const phases = [
    () => ({ requeueAfterMs: 5 }),
    () => ({ requeueAfterMs: 9, done: true }),
    () => ({ requeueAfterMs: 1 }),
  ];
  expect(await runPhases(phases, scope)).toMatchObject({ requeueAfterMs: 5 });
});
