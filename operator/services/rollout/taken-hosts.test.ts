import { describe, expect, it } from '@jest/globals';
import type { Ingress } from '../../../kubernetes/resource-type.ts';
import { hostsOf, takenHosts, withoutHosts } from './taken-hosts.ts';

function ingress(namespace: string, hosts: string[], creationTimestamp?: string): Ingress {
  return {
    apiVersion: 'networking.k8s.io/v1',
    kind: 'Ingress',
    metadata: { name: 'web', namespace, ...(creationTimestamp !== undefined && { creationTimestamp }) },
    spec: { rules: hosts.map((host) => ({ host })), tls: [{ hosts, secretName: 'web-tls' }] },
  };
}

const early = '2026-01-01T00:00:00Z';
const late = '2026-01-01T00:00:01Z';

describe('the taken hosts', () => {
  const taken = (live: Ingress | undefined, all: Ingress[]) =>
    takenHosts(ingress('env-b', ['x.d', 'y.d']), live, (host) => all.filter((one) => hostsOf(one).includes(host)));

  it('are none if nobody else has them', () => {
    const live = ingress('env-b', ['x.d', 'y.d'], early);
    expect(taken(undefined, [])).toEqual([]);
    expect(taken(live, [live, ingress('env-a', ['z.d'], early)])).toEqual([]);
  });

  it('include those of an older or younger environment that has them already', () => {
    expect(taken(undefined, [ingress('env-a', ['x.d'], late)])).toEqual(['x.d']);
    expect(taken(ingress('env-b', ['y.d'], early), [ingress('env-a', ['x.d'], late)])).toEqual(['x.d']);
  });

  it.each([
    ['the older one', early, late, 'env-a'],
    ['of two of one second the first by name', early, early, 'env-a'],
    ['the older one, whatever its name', late, early, 'env-b'],
  ])('leave a host that two have to %s', (_what, ofA, ofB, winner) => {
    const a = ingress('env-a', ['x.d'], ofA);
    const b = ingress('env-b', ['x.d'], ofB);
    const loses = (one: Ingress) => takenHosts(one, one, () => [a, b]).length > 0;
    expect([a, b].filter((one) => !loses(one)).map(({ metadata }) => metadata.namespace)).toEqual([winner]);
  });
});

describe('an Ingress without taken hosts', () => {
  it('keeps the other hosts, with their certificate', () => {
    expect(withoutHosts(ingress('env-b', ['x.d', 'y.d']), ['x.d'])?.spec).toEqual({
      rules: [{ host: 'y.d' }],
      tls: [{ hosts: ['y.d'], secretName: 'web-tls' }],
    });
  });

  it('is absent without a host, and unchanged if nothing is taken', () => {
    const whole = ingress('env-b', ['x.d']);
    expect(withoutHosts(whole, ['x.d'])).toBeUndefined();
    expect(withoutHosts(whole, [])).toBe(whole);
  });
});
