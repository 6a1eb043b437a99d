import { describe, expect, test } from '@jest/globals';
import type { HttpRoute } from '../../../kubernetes/resource-type.ts';
import type { PublicRoute } from '../../../service-file/schema.ts';
import { httpRoutes, refusals } from './http-routes.ts';
import { sampleContext, SAMPLE_SETTINGS } from './testing/sample-context.ts';

const parentRefs = [{ name: 'web', namespace: 'traefik', sectionName: 'https' }];
const settings = { ...SAMPLE_SETTINGS, ingress: { ...SAMPLE_SETTINGS.ingress, parentRefs } };
const routesOf = (publicRoutes: PublicRoute[]) => httpRoutes(sampleContext({ publicRoutes }, { settings }));
const rule = (value: string, name: string, port: number) => ({
  matches: [{ path: { type: 'PathPrefix', value } }],
  backendRefs: [{ name, port }],
});

describe('the HTTPRoutes', () => {
  test('are one for each host, attached to the Gateway, with a rule for each path', () => {
    const made = routesOf([
      { service: 'web', port: 80, path: '/' },
      { service: 'api', port: 3000, path: '/api' },
      { service: 'admin', port: 80, path: '/', alias: 'admin' },
    ]);
    expect(made.map(({ metadata }) => metadata)).toEqual([
      { name: 'web', namespace: 'env-x', labels: { owner: 'x' } },
      { name: 'web-admin', namespace: 'env-x', labels: { owner: 'x' } },
    ]);
    expect(made.map(({ spec }) => spec)).toEqual([
      {
        parentRefs,
        hostnames: ['shop-main--acme.env.localhost'],
        rules: [rule('/', 'web', 80), rule('/api', 'api', 3000)],
      },
      { parentRefs, hostnames: ['admin---shop-main--acme.env.localhost'], rules: [rule('/', 'admin', 80)] },
    ]);
  });

  test('have at most the 16 rules that the Gateway API permits, and names of their own', () => {
    const made = routesOf([
      ...Array.from({ length: 20 }, (_, n) => ({ service: 'web', port: 80, path: `/${n}` })),
      { service: 'web', port: 80, path: '/', alias: '2' },
    ]);
    expect(made.map(({ spec }) => spec.rules.length)).toEqual([16, 4, 1]);
    expect(made.map(({ metadata }) => metadata.name)).toEqual(['web', 'web.2', 'web-2']);
    expect(new Set(made.slice(0, 2).flatMap(({ spec }) => spec.hostnames)).size).toBe(1);
  });

  test('are none without a public route', () => {
    expect(routesOf([])).toEqual([]);
  });
});

describe('the reasons why a Gateway refuses a route', () => {
  const route = (status: string, observedGeneration: number, type = 'Accepted'): HttpRoute => ({
    apiVersion: 'gateway.networking.k8s.io/v1',
    kind: 'HTTPRoute',
    metadata: { name: 'web', namespace: 'env-x', generation: 2 },
    spec: { parentRefs, hostnames: ['shop.env.localhost'], rules: [] },
    status: {
      parents: [
        {
          parentRef: { name: 'web', namespace: 'traefik' },
          conditions: [{ type, status, observedGeneration, reason: 'NotAllowedByListeners', message: 'no listener' }],
        },
      ],
    },
  });

  test('name host, Gateway and its reason', () => {
    expect(refusals(route('False', 2))).toEqual([
      'shop.env.localhost: the Gateway traefik/web refuses the route (NotAllowedByListeners): no listener',
    ]);
  });

  test.each([
    ['an accepted route', route('True', 2)],
    ['an earlier version of the route', route('False', 1)],
    ['backends that are not ready', route('False', 2, 'ResolvedRefs')],
    ['a route on which no Gateway has reported', { ...route('True', 2), status: undefined }],
  ])('are none for %s', (_what, one) => {
    expect(refusals(one)).toEqual([]);
  });
});
