import { describe, expect, test } from '@jest/globals';
import type { Condition } from '../../../crds/conditions.ts';
import type { Environment, EnvironmentStatus } from '../../../crds/environment.ts';
import { environmentEvents } from './environment-events.ts';

const since = '2026-01-01T00:00:00.000Z';
const wanted = { active: true, since, reason: 'Spec', specActive: true, buildPending: false } as const;
const ended = (reason: NonNullable<EnvironmentStatus['activation']>['reason'], more: object = {}) => ({
  activation: { ...wanted, active: false, reason, ...more },
});
const running = { number: 2, result: 'running', commit: '0123456789abcdef', startedAt: since } as const;
const finished = { ...running, finishedAt: '2026-01-01T00:00:12.000Z' };
const is = (type: string, status: Condition['status'], reason: string, message = 'why') => ({
  ...{ type, status, reason, message },
  lastTransitionTime: since,
});
const stalled = (reason: string, message = 'why') => ({ conditions: [is('Stalled', 'True', reason, message)] });
const waits = (reason: string, message = 'why') => ({
  conditions: [is('Ready', 'False', reason, message), is('Reconciling', 'True', reason, message)],
});

function environment(status: EnvironmentStatus | undefined, metadata: object = {}): Environment {
  return {
    apiVersion: 'coppice.dev/v1alpha1',
    kind: 'Environment',
    metadata: { name: 'shop-main', namespace: 'group-acme', uid: 'u1', ...metadata },
    spec: { repository: 'shop', gitRef: { name: 'main', type: 'branch' }, active: true, buildOnCreate: true },
    ...(status && { status }),
  };
}

describe('emits an Event for a change', () => {
  const table: [string, EnvironmentStatus, EnvironmentStatus, string[]][] = [
    [
      'contents are wanted',
      {},
      { activation: wanted, state: 'empty' },
      ['Creating: the contents are being set up: spec.active is true'],
    ],
    ['none are wanted', {}, { activation: { ...wanted, active: false } }, []],
    [
      'a delete request',
      { activation: wanted },
      { ...ended('DeleteRequest'), handledRequests: { delete: 'T/x' } },
      ['Removing: the contents are deleted: a delete request'],
    ],
    [
      'the ref is gone',
      { activation: wanted },
      { ...ended('DeleteRequest'), handledRequests: { delete: 'T/ref-gone' } },
      ['RefGone: the contents are deleted: the ref no longer exists at the Git host'],
    ],
    [
      'the end of the TTL',
      { activation: wanted },
      { ...ended('Expired'), ttl: { seconds: 60, since } },
      ['Expired: the contents are deleted: their time to live of 60 s is over'],
    ],
    [
      'a scheduled rebuild',
      { activation: wanted },
      ended('Schedule', { rebuild: true }),
      ["Rebuilding: the contents are deleted, to be created again: the repository's scheduled rebuild"],
    ],
    [
      'the services are set up',
      { state: 'empty' },
      {
        state: 'created',
        revision: 'v',
        commit: 'abc',
        conditions: [is('Created', 'True', 'SetUp', 'they are set up')],
      },
      ['Created: they are set up (commit abc)'],
    ],
    ['the contents were deleted', { state: 'built' }, { state: 'empty' }, ['Removed: all contents are deleted']],
    [
      'a build starts',
      { build: { ...finished, number: 1, result: 'failed' } },
      { build: running },
      ['BuildStarted: build 2 of the branch main'],
    ],
    [
      'it is queued',
      { build: running },
      { build: running, ...waits('Queued', 'position 3') },
      ['BuildQueued: build 2: position 3'],
    ],
    [
      'its queue position changes',
      { build: running, ...waits('Queued', 'position 3') },
      { build: running, ...waits('Queued', 'position 2') },
      [],
    ],
    [
      'it waits for an image that CI builds',
      { build: running },
      { build: { ...running, images: [], message: 'waiting for x' }, ...waits('WaitingForImages') },
      ['WaitingForImages: build 2: waiting for x'],
    ],
    [
      'its images are in the registry',
      { build: running },
      { build: { ...running, images: [], rolloutStartedAt: since } },
      ['ImagesReady: build 2: all images are in the registry; the services are being rolled out'],
    ],
    [
      'its images are in the registry, and it becomes ready at once',
      { build: running },
      {
        build: {
          ...{ ...finished, result: 'succeeded', images: [], rolloutStartedAt: since },
          message: 'all 2 services are running',
        },
      },
      ['BuildSucceeded: build 2: all 2 services are running, after 12 s (commit 0123456789ab)'],
    ],
    [
      'it becomes ready',
      { build: { ...running, images: [], rolloutStartedAt: since } },
      {
        build: {
          ...{ ...finished, result: 'succeeded', images: [], rolloutStartedAt: since },
          message: 'all 2 services are running',
        },
      },
      ['BuildSucceeded: build 2: all 2 services are running, after 12 s (commit 0123456789ab)'],
    ],
    [
      'it fails',
      { build: running },
      {
        build: { ...finished, result: 'failed', message: 'not ready after 90 s: web' },
        conditions: [is('Built', 'False', 'RolloutFailed'), is('Stalled', 'True', 'BuildFailed')],
      },
      ['RolloutFailed: build 2: not ready after 90 s: web'],
    ],
    [
      'it fails before it starts',
      {},
      {
        build: { ...finished, number: 1, result: 'failed', message: 'line 3' },
        conditions: [is('Built', 'False', 'ServiceFileInvalid'), is('Stalled', 'True', 'ServiceFileInvalid')],
      },
      ['ServiceFileInvalid: build 1: line 3'],
    ],
    [
      'a newer build replaces it',
      { build: { ...running, number: 1 } },
      { build: running },
      ['BuildSuperseded: build 1: another one replaces it', 'BuildStarted: build 2 of the branch main'],
    ],
    [
      'it is cancelled',
      { build: running },
      { build: { ...finished, result: 'cancelled', message: 'the contents were deleted' } },
      ['BuildCancelled: build 2: the contents were deleted'],
    ],
    ['it stalls', {}, stalled('RefNotFound', 'no such ref'), ['RefNotFound: no such ref']],
    ['it stalls for another reason', stalled('RefNotFound'), stalled('Forbidden'), ['Forbidden: why']],
    ['a conflict', {}, waits('NamespaceTaken', 'env-x is taken'), ['NamespaceTaken: env-x is taken']],
    ['the same conflict with another message', waits('NamespaceTaken', 'a'), waits('NamespaceTaken', 'b'), []],
    ['a wait that ends without user action', {}, waits('HostBusy'), []],
    ['a failure that is tried again', {}, waits('Retrying'), []],
    [
      'a service is down',
      { state: 'built' },
      { state: 'built', ...waits('ServicesUnavailable', 'web: x') },
      ['ServicesUnavailable: web: x'],
    ],
    [
      'it is up again',
      waits('ServicesUnavailable'),
      { conditions: [is('Ready', 'True', 'Built')] },
      ['ServicesAvailable: every service is ready again'],
    ],
    [
      'a request that nobody can handle',
      {},
      { conditions: [is('RequestsValid', 'False', 'MalformedRequest', 'biuld is unknown')] },
      ['MalformedRequest: biuld is unknown'],
    ],
    [
      'the same request still',
      { conditions: [is('RequestsValid', 'False', 'MalformedRequest', 'biuld is unknown')] },
      { conditions: [is('RequestsValid', 'False', 'MalformedRequest', 'biuld is unknown')] },
      [],
    ],
    [
      'nothing',
      { state: 'built', build: { ...finished, result: 'succeeded' } },
      { state: 'built', build: { ...finished, result: 'succeeded' }, sizeBytes: 5 } as EnvironmentStatus,
      [],
    ],
  ];
  test.each(table)('%s', (_what, before, after, expected) => {
    const events = environmentEvents(environment(before), environment(after));
    expect(events.map(({ reason, note }) => `${reason}: ${note}`)).toEqual(expected);
  });
});

test('emits warnings for failures only', () => {
  const typesOf = (before: EnvironmentStatus, after: EnvironmentStatus) =>
    environmentEvents(environment(before), environment(after)).map(({ type }) => type);
  expect(typesOf({}, stalled('RefNotFound'))).toEqual(['Warning']);
  expect(typesOf({ build: running }, { build: { ...finished, result: 'failed' } })).toEqual(['Warning']);
  expect(typesOf({}, { activation: wanted })).toEqual(['Normal']);
});

test('emits one Event for the deletion of the object', () => {
  const going = environment({ state: 'built' }, { deletionTimestamp: since });
  expect(environmentEvents(environment({ state: 'built' }), going).map(({ reason }) => reason)).toEqual(['Deleting']);
  expect(environmentEvents(going, going)).toEqual([]);
});
