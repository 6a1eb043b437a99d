import { describe, expect, test } from '@jest/globals';
import { SERVICE_DEFAULTS, type Service } from '../../../../service-file/schema.ts';
import { servicesToStop, stoppingLimitSeconds } from '../../reusable/publication.ts';
import { reportStopped, withoutReplicas } from './stopped-services.ts';
import type { Revision } from '../revision/revision.ts';

describe('while volumes are copied', () => {
  const volume = (readOnly: boolean) => ({ type: 'volume' as const, volume: 'data', target: '/d', readOnly });
  const service = (name: string, more: Partial<Service> = {}): Service => ({
    ...SERVICE_DEFAULTS,
    name,
    image: 'i',
    ...more,
  });
  const services = [
    service('db', { mounts: [volume(false)], replicas: 2 }),
    service('reader', { mounts: [volume(true)], stopGracePeriodSeconds: 90 }),
    service('fill', { mounts: [volume(false)], runs: 'once' }),
    service('web'),
  ];
  const serviceFile = { services, publicRoutes: [], volumes: [{ name: 'data' }], bundles: [] };
  const revision: Revision = { id: 'v', commit: 'c', serviceFile, images: [], warnings: [], secrets: [] };

  test('stops only services with these volumes, and waits for their grace periods', () => {
    const stopped = servicesToStop(serviceFile);
    expect([...stopped]).toEqual(['db', 'reader']);
    expect(stoppingLimitSeconds(serviceFile, 300)).toBe(390);
    const { services: left } = withoutReplicas(revision, stopped).serviceFile;
    expect(left.map(({ name, replicas }) => [name, replicas])).toEqual([
      ['db', 0],
      ['reader', 0],
      ['fill', 1],
      ['web', 1],
    ]);
  });

  test('reports which services are stopped, and why', () => {
    const up = { services: ['db', 'web'].map((name) => ({ name, ready: true })), done: true };
    const reported = reportStopped(
      { ...up, aliases: {}, waitingFor: [], failures: [], wakers: 'none' },
      new Set(['db']),
    );
    expect(reported).toMatchObject({ done: false, waitingFor: ['db: stopped while its volumes are copied'] });
    expect(reported.services.map(({ ready }) => ready)).toEqual([false, true]);
  });
});
