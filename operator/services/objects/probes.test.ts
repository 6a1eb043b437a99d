import { expect, test } from '@jest/globals';
import { probes } from './probes.ts';

const times = { intervalSeconds: 30, timeoutSeconds: 5, retries: 3, startPeriodSeconds: 10 };

test('checks every second until the first success, then at the given interval', () => {
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

test('checks by a request', () => {
  const made = probes({ http: { path: '/healthz', port: 80 }, ...times }, undefined);
  expect(made.readinessProbe).toMatchObject({ httpGet: { path: '/healthz', port: 80 } });
});

test('checks the port of a public service without a health check, and nothing of others', () => {
  expect(probes(undefined, 3000).readinessProbe?.tcpSocket).toEqual({ port: 3000 });
  expect(probes(undefined, undefined)).toEqual({});
});
