import { expect, test } from '@jest/globals';
import { z } from 'zod';
import { readConfig } from '../../registry-tokens/config.ts';
import { objectOf, objectsIn, render, renderObjects, type Rendered } from './render.ts';
import { parse } from 'yaml';

const values = {
  api: { url: 'https://coppice.example.org' },
  registry: { address: 'registry.example.com:5000/coppice', tokenAuth: { enabled: true } },
  builder: {
    mirrors: {
      'docker.io': ['Registry.example.com:5000/docker.io', 'mirror.example.com/docker.io'],
      'ghcr.io': ['registry.example.com:5000/mirrors/ghcr.io/'],
    },
  },
};

const deploymentSchema = z.looseObject({
  spec: z.looseObject({
    template: z.looseObject({
      spec: z.looseObject({
        automountServiceAccountToken: z.boolean().optional(),
        containers: z.tuple([
          z.looseObject({ env: z.array(z.looseObject({ name: z.string(), value: z.string().optional() })) }),
        ]),
        volumes: z.array(z.looseObject({ name: z.string() })),
      }),
    }),
  }),
});
const podOf = (objects: Rendered[], name: string) =>
  deploymentSchema.parse(objectOf(objects, 'Deployment', name)).spec.template.spec;

function environmentOf(objects: Rendered[]): Record<string, string> {
  const [{ env }] = podOf(objects, 'coppice-registry-tokens').containers;
  return Object.fromEntries(env.map(({ name, value = '' }) => [name, value]));
}

test('is absent while it is disabled', async () => {
  const objects = await renderObjects({ registry: { address: 'registry.example.com' } });
  expect(objects.filter(({ metadata }) => metadata.name.includes('registry-tokens'))).toEqual([]);
});

test('gives the token server its configuration, and no permission in the cluster', async () => {
  const objects = await renderObjects(values);
  const { TOKEN_URL, SERVICE, SHARED_PREFIXES } = readConfig(environmentOf(objects));
  expect(TOKEN_URL.href).toBe('https://coppice.example.org/registry/token');
  expect(SERVICE).toBe('registry.example.com:5000');
  expect(SHARED_PREFIXES).toEqual(['docker.io/', 'mirrors/ghcr.io/']);
  const { automountServiceAccountToken, volumes } = podOf(objects, 'coppice-registry-tokens');
  expect(automountServiceAccountToken).toBe(false);
  expect(volumes.map(({ name }) => name)).toEqual(['authority', 'keys']);
});

test('gives the registry-wide account to the token server, and no longer to the operator', async () => {
  const withAccount = { ...values, registry: { ...values.registry, credentialsSecret: 'registry-credentials' } };
  const objects = await renderObjects(withAccount);
  expect(podOf(objects, 'coppice-registry-tokens').volumes).toContainEqual(
    expect.objectContaining({ secret: expect.objectContaining({ secretName: 'registry-credentials' }) }),
  );
  expect(JSON.stringify(objectOf(objects, 'Deployment', 'coppice-operator'))).not.toContain('registry-credentials');
});

test('passes the address of tokens to the operator, and serves them there', async () => {
  const objects = await renderObjects(values);
  const { data } = z
    .looseObject({ data: z.object({ 'operator.yaml': z.string() }) })
    .parse(objectOf(objects, 'ConfigMap', 'coppice-operator'));
  expect(parse(data['operator.yaml'])).toMatchObject({
    registry: {
      tokenAuth: { url: 'https://coppice.example.org/registry/token', service: 'registry.example.com:5000' },
    },
  });
  expect(objectOf(objects, 'Ingress', 'coppice-registry-tokens')).toMatchObject({
    spec: {
      tls: [{ hosts: ['coppice.example.org'] }],
      rules: [{ host: 'coppice.example.org', http: { paths: [{ path: '/registry/token', pathType: 'Exact' }] } }],
    },
  });
});

test.each([
  ['the API’s certificate at its host', { secretName: 'certificate' }, {}, 'certificate'],
  ['that of cert-manager at its host', { clusterIssuer: 'letters' }, {}, 'coppice-api-tls'],
  [
    'one of its own',
    { secretName: 'certificate' },
    { url: 'https://tokens.example.org/t', tlsSecretName: 'own' },
    'own',
  ],
  [
    'the default one at another host',
    { secretName: 'certificate' },
    { url: 'https://tokens.example.org/t' },
    undefined,
  ],
])('is served with %s', async (_what, tls, tokenAuth, secretName) => {
  const registry = { ...values.registry, tokenAuth: { enabled: true, ...tokenAuth } };
  const text = await render({ ...values, api: { ...values.api, tls }, registry }, '--set', 'crds.enabled=false');
  const ingress = z
    .looseObject({ spec: z.looseObject({ tls: z.tuple([z.looseObject({ secretName: z.string().optional() })]) }) })
    .parse(objectOf(objectsIn(text), 'Ingress', 'coppice-registry-tokens'));
  expect(ingress.spec.tls[0].secretName).toBe(secretName);
});
