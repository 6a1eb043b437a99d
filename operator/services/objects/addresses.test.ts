import { describe, expect, test } from '@jest/globals';
import type { PublicRoute } from '../../../service-file/schema.ts';
import { httpRoutes } from './http-routes.ts';
import { aliasUrls, ingress } from './ingress.ts';
import { kubernetesServices } from './service.ts';
import { sampleContext, sampleService, SAMPLE_SETTINGS } from './testing/sample-context.ts';

describe('the Services', () => {
  test('are one for each name, with every port', () => {
    const service = sampleService({ ports: [80], udpPorts: [53], aliases: ['backend'] });
    const context = sampleContext({ services: [service], publicRoutes: [{ service: 'api', port: 9000, path: '/' }] });
    const made = kubernetesServices(context, service);
    expect(made.map(({ metadata }) => metadata.name)).toEqual(['api', 'backend']);
    expect(made[1]?.spec).toMatchObject({
      selector: { 'coppice.dev/service': 'api' },
      ports: [{ name: 'tcp-80' }, { name: 'tcp-9000' }, { name: 'udp-53', protocol: 'UDP' }],
    });
  });

  test('are headless without ports, and absent for a job', () => {
    const service = sampleService();
    const job = sampleService({ runs: 'once' });
    expect(kubernetesServices(sampleContext({ services: [service] }), service)[0]?.spec?.clusterIP).toBe('None');
    expect(kubernetesServices(sampleContext({ services: [job] }), job)).toEqual([]);
  });
});

describe('the Ingress', () => {
  const routes: PublicRoute[] = [
    { service: 'web', port: 80, path: '/' },
    { service: 'api', port: 3000, path: '/api' },
    { service: 'admin', port: 80, path: '/', alias: 'admin' },
  ];
  const backend = (name: string, number: number) => ({ service: { name, port: { number } } });

  test('shares the host among services by path, and has a host for each alias', () => {
    expect(ingress(sampleContext({ publicRoutes: routes }))?.spec).toEqual({
      ingressClassName: 'traefik',
      rules: [
        {
          host: 'shop-main--acme.env.localhost',
          http: {
            paths: [
              { path: '/', pathType: 'Prefix', backend: backend('web', 80) },
              { path: '/api', pathType: 'Prefix', backend: backend('api', 3000) },
            ],
          },
        },
        {
          host: 'admin---shop-main--acme.env.localhost',
          http: { paths: [{ path: '/', pathType: 'Prefix', backend: backend('admin', 80) }] },
        },
      ],
    });
  });

  test('is absent without a public route', () => {
    expect(ingress(sampleContext({}))).toBeUndefined();
  });

  test.each([
    [undefined, {}],
    ['letsencrypt', { secretName: 'web-tls' }],
  ])('uses TLS with the issuer %s', (clusterIssuer, expected) => {
    const settings = {
      ...SAMPLE_SETTINGS,
      environmentsUrl: new URL('https://env.example.com'),
      ingress: { ...SAMPLE_SETTINGS.ingress, annotations: { a: 'b' }, clusterIssuer },
    };
    const made = ingress(sampleContext({ publicRoutes: routes }, { settings }));
    expect(made?.spec?.tls).toEqual([
      { hosts: ['shop-main--acme.env.example.com', 'admin---shop-main--acme.env.example.com'], ...expected },
    ]);
    expect(made?.metadata.annotations).toEqual({
      a: 'b',
      ...(clusterIssuer !== undefined && { 'cert-manager.io/cluster-issuer': clusterIssuer }),
    });
  });

  const middleware = 'coppice-system-coppice-access@kubernetescrd';
  const annotation = 'traefik.ingress.kubernetes.io/router.middlewares';
  test.each<[string, Record<string, string>, string]>([
    ['alone', {}, middleware],
    [
      'before those of the chart',
      { [annotation]: 'kube-system-logins@kubernetescrd' },
      `${middleware},kube-system-logins@kubernetescrd`,
    ],
  ])('restricts all hosts by a middleware %s', (_what, annotations, expected) => {
    const enforcement = { by: 'traefik', middleware } as const;
    const ingressSettings = { ...SAMPLE_SETTINGS.ingress, annotations, enforcement };
    const settings = { ...SAMPLE_SETTINGS, ingress: ingressSettings };
    for (const access of ['password', 'members'] as const) {
      const made = ingress(sampleContext({ publicRoutes: routes }, { access, settings }));
      expect(made?.metadata.annotations).toEqual({ [annotation]: expected });
    }
    const open = ingress(sampleContext({ publicRoutes: routes }, { settings }));
    expect(open?.metadata.annotations).toEqual(annotations);
  });

  test('is not made for restricted access without a middleware, nor is a route', () => {
    const context = sampleContext({ publicRoutes: routes }, { access: 'members' });
    expect(() => ingress(context)).toThrow('is not published');
    expect(() => httpRoutes(context)).toThrow('is not published');
  });

  test('contains the addresses of aliases', () => {
    const { id, serviceFile } = sampleContext({ publicRoutes: routes });
    expect(aliasUrls(id, serviceFile, SAMPLE_SETTINGS.environmentsUrl)).toEqual({
      admin: 'http://admin---shop-main--acme.env.localhost:8080/',
    });
  });
});
