import { describe, expect, test } from '@jest/globals';
import type { Deployment, Pod } from '../../../kubernetes/resource-type.ts';
import { SERVICE_DEFAULTS, type Service } from '../../../service-file/schema.ts';
import { hasLeavingPods, isRolledOut, isStarted, startableServices, stoppableServices } from './rollout.ts';

function service(name: string, dependsOn: Service['dependsOn'] = []): Service {
  return { ...SERVICE_DEFAULTS, name, image: name, dependsOn };
}

describe('the services that can start', () => {
  const services = [
    service('db'),
    service('cache'),
    service('migrate', [{ service: 'db', condition: 'healthy' }]),
    service('api', [{ service: 'migrate', condition: 'completed' }]),
    service('web', [{ service: 'api', condition: 'started' }]),
  ];
  test.each([
    [[], [], [], [], ['db', 'cache']],
    [['db', 'cache'], [], [], [], []],
    [['db', 'cache'], ['db'], ['db'], [], ['migrate']],
    [['db', 'cache', 'migrate'], ['db', 'migrate'], ['db'], [], []],
    [['db', 'cache', 'migrate'], ['db', 'migrate'], ['db', 'migrate'], ['migrate'], ['api']],
    [['db', 'cache', 'migrate', 'api'], ['db', 'migrate'], ['db', 'migrate'], ['migrate'], []],
    [['db', 'cache', 'migrate', 'api'], ['db', 'migrate', 'api'], ['db', 'migrate'], ['migrate'], ['web']],
  ])(
    'with started %j, started %j, healthy %j, completed %j are %j',
    (launched, started, healthy, completed, expected) => {
      const reached = {
        launched: new Set(launched),
        started: new Set(started),
        healthy: new Set(healthy),
        completed: new Set(completed),
      };
      expect(startableServices(services, reached).map((one) => one.name)).toEqual(expected);
    },
  );
});

describe('the services that can stop', () => {
  const services = [
    service('db'),
    service('cache'),
    service('api', [
      { service: 'db', condition: 'healthy' },
      { service: 'cache', condition: 'started' },
    ]),
    service('web', [{ service: 'api', condition: 'started' }]),
    service('mail'),
  ];
  test.each([
    [[], [], ['web', 'mail']],
    [['web', 'mail'], ['mail'], []],
    [['web', 'mail'], ['mail', 'web'], ['api']],
    [
      ['web', 'mail', 'api'],
      ['mail', 'web', 'api'],
      ['db', 'cache'],
    ],
  ])('with asked %j, stopped %j are %j', (asked, stopped, expected) => {
    const found = stoppableServices(services, { asked: new Set(asked), stopped: new Set(stopped) });
    expect(found.map(({ name }) => name)).toEqual(expected);
  });
});

const healthcheck = {
  command: ['true'],
  intervalSeconds: 5,
  timeoutSeconds: 5,
  retries: 3,
  startPeriodSeconds: 0,
};

test.each<[string, Partial<Service>, boolean, boolean]>([
  ['a container that runs', {}, true, true],
  ['one that does not run yet', {}, false, false],
  ['one that is not healthy yet', { healthcheck }, false, true],
  ['a job that has not completed', { runs: 'once' }, false, true],
])('returns whether a service has started: %s', (_what, extra, isUp, expected) => {
  expect(isStarted({ ...service('db'), ...extra }, isUp)).toBe(expected);
});

function deployment(status: Deployment['status'], replicas = 1): Deployment {
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'api', generation: 2 },
    spec: { replicas, selector: {}, template: {} },
    status,
  };
}

const current = { observedGeneration: 2, replicas: 1, updatedReplicas: 1, availableReplicas: 1 };

test.each([
  [current, 1, true],
  [{ ...current, observedGeneration: 1 }, 1, false],
  [{ ...current, replicas: 2 }, 1, false],
  [{ ...current, updatedReplicas: 0 }, 1, false],
  [{ ...current, availableReplicas: 0 }, 1, false],
  [{ observedGeneration: 2 }, 0, true],
  [undefined, 1, false],
])('returns for %j of %s whether it is rolled out: %s', (status, replicas, expected) => {
  expect(isRolledOut(deployment(status, replicas))).toBe(expected);
});

const pod = (deletionTimestamp?: string) => ({ metadata: { name: 'p', deletionTimestamp } }) as Pod;

test.each([
  ['none', current, [pod()], false],
  ['one by the Deployment', { ...current, terminatingReplicas: 1 }, [pod()], true],
  ['one, by its pods, if the cluster counts none', current, [pod(), pod('2026-01-01T00:00:00Z')], true],
])('returns whether pods are terminating: %s', (_what, status, pods, expected) => {
  expect(hasLeavingPods(deployment(status), pods)).toBe(expected);
});
