import { describe, expect, test } from '@jest/globals';
import type { AccessEnforcement } from './access-enforcement.ts';
import { accessFilters, accessMiddleware, gateIngress, gateService } from './access.ts';
import { httpRoutes } from './http-routes.ts';
import { ingress } from './ingress.ts';
import { sampleContext, sampleService, SAMPLE_SETTINGS } from './testing/sample-context.ts';

const routes = [
  { service: 'web', port: 80, path: '/' },
  { service: 'web', port: 80, path: '/.well-known/acme-challenge/x' },
  { service: 'web', port: 80, path: '/.coppice/access' },
  { service: 'admin', port: 80, path: '/', alias: 'admin' },
];
const hosts = ['shop-main--acme.env.localhost', 'admin---shop-main--acme.env.localhost'];

function contextBy(
  enforcement: AccessEnforcement,
  access: 'public' | 'members' = 'members',
  services = [sampleService()],
) {
  const settings = { ...SAMPLE_SETTINGS, ingress: { ...SAMPLE_SETTINGS.ingress, enforcement } };
  return sampleContext({ services, publicRoutes: routes }, { access, settings });
}

describe('by ingress-nginx', () => {
  const nginx = { by: 'ingress-nginx', host: 'coppice-access.coppice-system.svc.cluster.local' } as const;

  // https://kubernetes.github.io/ingress-nginx/user-guide/nginx-configuration/annotations/#external-authentication
  test('the Ingress asks about this environment, and sends visitors to the gate of the host they opened', () => {
    expect(ingress(contextBy(nginx))?.metadata.annotations).toEqual({
      'nginx.ingress.kubernetes.io/auth-url':
        'http://coppice-access.coppice-system.svc.cluster.local/ingress-nginx/acme.shop-main',
      'nginx.ingress.kubernetes.io/auth-signin': 'http://$host:8080/.coppice/access?rd=$escaped_request_uri',
      'nginx.ingress.kubernetes.io/auth-response-headers': 'Cookie, x-coppice-environment-access',
      'nginx.ingress.kubernetes.io/satisfy': 'all',
    });
    expect(ingress(contextBy(nginx, 'public'))?.metadata.annotations).toEqual({});
  });

  test('the Ingress of a public environment also asks where the waker finds environments by the header Host', () => {
    const waker = { namespace: 'coppice-system', podLabels: {}, image: 'coppice' };
    const context = contextBy(nginx, 'public');
    const asking = { ...context, settings: { ...context.settings, waker } };
    expect(ingress(asking)?.metadata.annotations).toEqual({
      'nginx.ingress.kubernetes.io/auth-url': `http://${nginx.host}/ingress-nginx/acme.shop-main`,
    });
  });

  test('the values pass the validation of ingress-nginx', () => {
    // URLWithNginxVariableRegex and HeadersVariable of its internal/ingress/annotations/parser/validators.go.
    const annotations = ingress(contextBy(nginx))?.metadata.annotations ?? {};
    for (const name of ['auth-url', 'auth-signin']) {
      expect(annotations[`nginx.ingress.kubernetes.io/${name}`]).toMatch(/^[-._~a-zA-Z0-9/:, ?&=$]*$/);
    }
    expect(annotations['nginx.ingress.kubernetes.io/auth-response-headers']).toMatch(/^[A-Za-z0-9-_, ]*$/);
  });

  test('the path of the gate leads to the API on every host, without a login', () => {
    const context = contextBy(nginx);
    expect(gateService(context)).toMatchObject({
      metadata: { name: 'coppice-access' },
      spec: { type: 'ExternalName', externalName: nginx.host },
    });
    const made = gateIngress(context);
    expect(made?.metadata.annotations).toEqual({});
    const backend = { service: { name: 'coppice-access', port: { number: 80 } } };
    expect(made?.spec?.rules).toEqual(
      hosts.map((host) => ({ host, http: { paths: [{ path: '/.coppice/access', pathType: 'Exact', backend }] } })),
    );
    expect([gateService(contextBy(nginx, 'public')), gateIngress(contextBy(nginx, 'public'))]).toEqual([
      undefined,
      undefined,
    ]);
  });

  test('a service of the same name does not receive what visitors bring', () => {
    const services = [sampleService({ name: 'coppice-access', aliases: ['coppice-access-x'] })];
    const context = contextBy(nginx, 'members', services);
    expect(gateService(context)?.metadata.name).toBe('coppice-access-x-x');
    expect(JSON.stringify(gateIngress(context))).toContain('"name":"coppice-access-x-x"');
  });

  test('no commit opens a path, or gets tokens, by naming one that nginx does not ask about', () => {
    const pathsOf = (context: ReturnType<typeof contextBy>) =>
      ingress(context)?.spec?.rules?.flatMap(({ http }) => http?.paths.map(({ path }) => path));
    for (const access of ['members', 'public'] as const) expect(pathsOf(contextBy(nginx, access))).toEqual(['/', '/']);
    expect(pathsOf(contextBy({ by: 'traefik', middleware: 'x@file' }))).toContain('/.well-known/acme-challenge/x');
  });
});

describe('by Gateways of Traefik', () => {
  const forwardAuth = { address: 'http://coppice-access.coppice-system.svc/forward-auth' };
  const gateway = { by: 'traefik-gateway', forwardAuth } as const;

  test('every rule of every route refers to a middleware of the namespace', () => {
    const context = contextBy(gateway);
    const rules = httpRoutes(context).flatMap(({ spec }) => spec.rules);
    expect(rules).toHaveLength(4);
    for (const { filters } of rules) {
      expect(filters).toEqual([
        { type: 'ExtensionRef', extensionRef: { group: 'traefik.io', kind: 'Middleware', name: 'coppice-access' } },
      ]);
    }
    expect(accessMiddleware(context)).toMatchObject({
      metadata: { namespace: 'env-x', name: 'coppice-access' },
      spec: { forwardAuth },
    });
  });

  test('a public environment has neither', () => {
    const context = contextBy(gateway, 'public');
    expect(httpRoutes(context).flatMap(({ spec }) => spec.rules.map(({ filters }) => filters))).toEqual([
      undefined,
      undefined,
      undefined,
      undefined,
    ]);
    expect(accessMiddleware(context)).toBeUndefined();
  });

  test('an Ingress is refused, and so is a route by what restricts Ingresses', () => {
    expect(() => ingress(contextBy(gateway))).toThrow('not restricted by an Ingress');
    expect(() => accessFilters(contextBy({ by: 'traefik', middleware: 'x@file' }))).toThrow(
      'not restricted at a Gateway',
    );
  });
});
