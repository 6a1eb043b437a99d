import { beforeAll, expect, test } from '@jest/globals';
import { objectOf, render, renderObjects, type Rendered } from './render.ts';
import { ALL_VALUES, GATEWAY_VALUES } from './sample-values.ts';
import { withValue } from './leaves.ts';

const { parentRefs } = GATEWAY_VALUES.ingress;
let objects: Rendered[];
beforeAll(async () => {
  objects = await renderObjects(GATEWAY_VALUES);
});
const kinds = (all: readonly Rendered[]) => all.map(({ kind }) => kind);

test.each([
  ['api', 'coppice.example.org', { type: 'PathPrefix', value: '/' }],
  ['registry-tokens', 'tokens.example.org', { type: 'Exact', value: '/registry/token' }],
])('attaches the route of %s to the Gateways, instead of an Ingress', (component, host, path) => {
  expect(objectOf(objects, 'HTTPRoute', `coppice-${component}`)['spec']).toEqual({
    parentRefs,
    hostnames: [host],
    rules: [{ matches: [{ path }], backendRefs: [{ name: `coppice-${component}`, port: 80 }] }],
  });
  expect(kinds(objects)).not.toContain('Ingress');
});

test('routes to a port that the Service has', () => {
  for (const component of ['api', 'registry-tokens']) {
    expect(objectOf(objects, 'Service', `coppice-${component}`)['spec']).toMatchObject({ ports: [{ port: 80 }] });
  }
});

test('permits the operator routes only at these Gateways, and none without them', async () => {
  const textOf = (all: readonly Rendered[], kind: string, name: string) => JSON.stringify(objectOf(all, kind, name));
  const policy = textOf(objects, 'ValidatingAdmissionPolicy', 'coppice-operator-objects');
  expect(policy).toContain("in ['gateway/web','gateway/inner']");
  expect(textOf(objects, 'ClusterRole', 'coppice-operator')).toContain('httproutes');
  const without = await renderObjects(ALL_VALUES);
  expect(kinds(without)).not.toContain('HTTPRoute');
  expect(JSON.stringify(without)).not.toContain('httproutes');
});

test("issues the wildcard certificate in the Gateway's namespace", () => {
  expect(objectOf(objects, 'Certificate', 'coppice-environments-tls').metadata.namespace).toBe('gateway');
});

test.each([
  ['ingress.className', 'nginx'],
  ['api.tls.secretName', 'certificate'],
  ['api.tls.clusterIssuer', 'letters'],
  ['environments.tls.clusterIssuer', 'dns'],
  ['registry.tokenAuth.tlsSecretName', 'tokens'],
])('refuses %s, which would have no effect', async (path, value) => {
  await expect(render(withValue(GATEWAY_VALUES, path, value))).rejects.toThrow(
    `${path} (${value}) has no effect with ingress.parentRefs`,
  );
});

test.each([
  ['no namespace', { name: 'web' }],
  ['another kind', { name: 'web', namespace: 'gateway', kind: 'Service' }],
])('refuses a Gateway with %s', async (_what, parent) => {
  await expect(render(withValue(GATEWAY_VALUES, 'ingress.parentRefs', [parent]))).rejects.toThrow(
    '/ingress/parentRefs/0',
  );
});
