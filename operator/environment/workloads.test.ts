import { describe, expect, test } from '@jest/globals';
import type { Service } from '../service-file/schema.ts';
import { deployment, ingress, kubernetesService, type WorkloadInput } from './workloads.ts';

const plain: Service = { name: 'api', image: 'node:24-slim', environment: {}, ports: [], dependsOn: [] };

function input(services: Service[], publicRoutes: WorkloadInput['serviceFile']['publicRoutes'] = []): WorkloadInput {
  return {
    namespace: 'env-x',
    labels: { owner: 'x' },
    serviceFile: { services, publicRoutes },
    images: new Map([['api', 'registry/api@sha256:1']]),
    host: 'x.env.localhost',
    ingressClassName: 'traefik',
    imagePullSecret: 'pull',
  };
}

function containerOf(service: Service, routes: WorkloadInput['serviceFile']['publicRoutes'] = []) {
  return deployment(input([service], routes), service, 1).spec?.template.spec?.containers[0];
}

describe('deployment', () => {
  test('runs the built image, with no service account token, the newest first and none missing', () => {
    const made = deployment(input([plain]), plain, 1);
    expect(made.spec?.template.spec?.containers[0]?.image).toBe('registry/api@sha256:1');
    expect(made.spec?.template.spec?.automountServiceAccountToken).toBe(false);
    expect(made.spec?.template.spec?.imagePullSecrets).toEqual([{ name: 'pull' }]);
    expect(made.spec?.strategy?.rollingUpdate).toEqual({ maxSurge: 1, maxUnavailable: 0 });
  });

  test('set up without running', () => {
    expect(deployment(input([plain]), plain, 0).spec?.replicas).toBe(0);
  });

  test('entrypoint and command are command and args, and nothing is expanded', () => {
    const service = { ...plain, entrypoint: ['/run'], command: ['$(HOME)'], environment: { A: '$(B) $C $$' } };
    expect(containerOf(service)).toMatchObject({
      command: ['/run'],
      args: ['$$(HOME)'],
      env: [{ name: 'A', value: '$$(B) $$C $$$$' }],
    });
  });

  test('a health check is the startup and the readiness probe', () => {
    const healthcheck = {
      command: ['true'],
      intervalSeconds: 30,
      timeoutSeconds: 5,
      retries: 3,
      startPeriodSeconds: 10,
    };
    expect(containerOf({ ...plain, healthcheck })).toMatchObject({
      startupProbe: { exec: { command: ['true'] }, periodSeconds: 1, failureThreshold: 100, timeoutSeconds: 5 },
      readinessProbe: { exec: { command: ['true'] }, periodSeconds: 30, failureThreshold: 3 },
    });
  });

  test('what is public and has no health check is ready when its port answers; others have no probe', () => {
    const service = { ...plain, ports: [3000] };
    const routes = [{ service: 'api', port: 3000, path: '/' }];
    expect(containerOf(service, routes)?.readinessProbe?.tcpSocket).toEqual({ port: 3000 });
    expect(containerOf(service)?.readinessProbe).toBeUndefined();
  });
});

describe('kubernetesService', () => {
  test.each([
    [[80, 8080], { ports: [{ port: 80 }, { port: 8080 }] }],
    [[], { clusterIP: 'None' }],
  ])('ports %j', (ports, expected) => {
    const service = { ...plain, ports };
    expect(kubernetesService(input([service]), service).spec).toMatchObject(expected);
  });
});

describe('ingress', () => {
  test('leads each public path to its service', () => {
    const made = ingress(input([plain], [{ service: 'api', port: 3000, path: '/api' }]));
    expect(made?.spec?.rules).toEqual([
      {
        host: 'x.env.localhost',
        http: {
          paths: [{ path: '/api', pathType: 'Prefix', backend: { service: { name: 'api', port: { number: 3000 } } } }],
        },
      },
    ]);
  });

  test('there is none without a public route', () => {
    expect(ingress(input([plain]))).toBeUndefined();
  });
});
