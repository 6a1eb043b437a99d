import { describe, expect, test } from '@jest/globals';
import type { Deployment } from '../../kubernetes/resource-type.ts';
import type { Service } from '../service-file/schema.ts';
import { isRolledOut, startableServices } from './rollout.ts';

function service(name: string, dependsOn: Service['dependsOn'] = []): Service {
  return { name, image: name, environment: {}, ports: [], dependsOn };
}

describe('startableServices', () => {
  const services = [
    service('db'),
    service('api', [{ service: 'db', condition: 'healthy' }]),
    service('web', [{ service: 'api', condition: 'started' }]),
  ];
  test.each([
    [[], [], ['db']],
    [['db'], [], ['db']],
    [['db'], ['db'], ['db', 'api']],
    [['db', 'api'], ['db'], ['db', 'api', 'web']],
  ])('started %j, ready %j → %j', (started, ready, expected) => {
    expect(startableServices(services, new Set(started), new Set(ready)).map((one) => one.name)).toEqual(expected);
  });
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
])('isRolledOut(%j) of %s is %s', (status, replicas, expected) => {
  expect(isRolledOut(deployment(status, replicas))).toBe(expected);
});
