import { expect, test } from '@jest/globals';
import { probes } from './probes.ts';

const times = { intervalSeconds: 30, timeoutSeconds: 5, retries: 3, startPeriodSeconds: 10 };

test('a health check is asked every second until it succeeds, then at its own pace', () => {
  expect(probes({ command: ['sh', '-c', 'echo $$ $(date)'], ...times }, undefined)).toEqual({
    startupProbe: {
      exec: { command: ['sh', '-c', 'echo $$$$ $$(date)'] },
      timeoutSeconds: 5,
      periodSeconds: 1,
      failureThreshold: 100,
    },
    readinessProbe: {
      exec: { command: ['sh', '-c', 'echo $$$$ $$(date)'] },
      timeoutSeconds: 5,
      periodSeconds: 30,
      failureThreshold: 3,
    },
  });
});

test('one by a request', () => {
  const made = probes({ http: { path: '/healthz', port: 80 }, ...times }, undefined);
  expect(made.readinessProbe).toMatchObject({ httpGet: { path: '/healthz', port: 80 } });
});

test('what is public and has no health check is ready when its port answers; others have no probe', () => {
  expect(probes(undefined, 3000).readinessProbe?.tcpSocket).toEqual({ port: 3000 });
  expect(probes(undefined, undefined)).toEqual({});
});
