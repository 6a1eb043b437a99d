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

test('gives each phase what the phases before it contributed, and leaves the given scope unchanged', async () => {
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

test('a phase that changes the status of its scope fails', async () => {
  const change = ({ status }: EnvironmentScope) => {
    Object.assign(status, { commit: 'c1' });
    return {};
  };
  expect(await runPhases([change], scope)).toMatchObject({ failure: expect.any(TypeError) });
});

test('a later phase removes a condition that an earlier one reported', async () => {
  const reported = await runPhases([() => ({ conditions: available })], scope);
  expect(finalStatus(scope.with(reported)).conditions).toMatchObject([{ type: 'Available' }]);
  const removed = await andThen(scope, reported, () => ({ conditions: { Available: undefined } }));
  expect(finalStatus(scope.with(removed)).conditions).toEqual([]);
});

test.each([
  ['throws', () => Promise.reject(new Error('cut off')), 'cut off'],
  ['returns its failure', () => ({ status: { commit: 'c2' }, failure: new Error('cut off') }), 'cut off'],
])('a phase that %s ends the reconcile; what was contributed is kept', async (_, phase, message) => {
  let isReached = false;
  const after = () => {
    isReached = true;
    return {};
  };
  const result = await runPhases([() => ({ status: { revision: 'r1' } }), phase, after], scope);
  expect(result).toMatchObject({ status: { revision: 'r1' }, failure: { message } });
  expect(isReached).toBe(false);
});

test('a refusal of the API server becomes Stalled', async () => {
  const refused = new ApiError('PUT', 422, 'Invalid', 'spec: is wrong');
  const { failure } = await runPhases([() => Promise.reject(refused)], scope);
  expect(failure).toBeInstanceOf(Stalled);
});

test('writes after a phase that asks for it, before the next one acts', async () => {
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
