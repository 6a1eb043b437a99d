import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { z } from 'zod';
import { parseConfig } from '../../api/config.ts';
import { readConfig, type OperatorConfig } from '../../operator/config.ts';
import { DEFAULT_EGRESS } from '../../operator/shared/testing/default-egress.ts';
import { withValue } from './leaves.ts';
import { objectOf, objectsIn, render, renderObjects, type Rendered } from './render.ts';
import { ACCESS_HEADER } from '../../environment-access/tokens.ts';
import { ALL_VALUES, EXISTING_VALUES, GATEWAY_VALUES, MIN_VALUES } from './sample-values.ts';

const containerSchema = z.looseObject({
  image: z.string(),
  env: z
    .array(z.looseObject({ name: z.string(), value: z.string().optional(), valueFrom: z.unknown().optional() }))
    .default([]),
});
const podSchema = z.looseObject({ containers: z.array(containerSchema).min(1) });
const workloadSchema = z.looseObject({ spec: z.looseObject({ template: z.looseObject({ spec: podSchema }) }) });

function containerOf(objects: Rendered[], kind: string, name: string): z.infer<typeof containerSchema> {
  const [container] = workloadSchema.parse(objectOf(objects, kind, name)).spec.template.spec.containers;
  if (!container) throw new Error(`${name} has no container`);
  return container;
}

/** Reads the configuration as the operator does. */
async function operatorConfig(objects: Rendered[]): Promise<OperatorConfig> {
  const { data } = z
    .looseObject({ data: z.record(z.string(), z.string()) })
    .parse(objectOf(objects, 'ConfigMap', 'coppice-operator'));
  const folder = await mkdtemp(join(tmpdir(), 'chart-'));
  try {
    const file = join(folder, 'operator.yaml');
    await writeFile(file, data['operator.yaml'] ?? '');
    return await readConfig(file);
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** Reads the configuration as the API does, with `secret` for values of Secrets. */
function apiConfig(objects: Rendered[]) {
  const { env } = containerOf(objects, 'Deployment', 'coppice-api');
  return parseConfig(Object.fromEntries(env.map(({ name, value }) => [name, value ?? 'from a Secret'])));
}

/** Returns the Secret and key of a variable. */
function secretOf({ env }: z.infer<typeof containerSchema>, name: string): string | undefined {
  const keySchema = z.looseObject({ secretKeyRef: z.object({ name: z.string(), key: z.string() }) });
  const found = env.find((variable) => variable.name === name);
  if (!found) return undefined;
  const { secretKeyRef } = keySchema.parse(found.valueFrom);
  return `${secretKeyRef.name}/${secretKeyRef.key}`;
}

test.each([
  [
    'images',
    '60 * * * *',
    /housekeeping\.schedules\.images: has a minute that cannot occur \(60\): correct it, such as/,
  ],
  ['logs', '0 0 30 2 *', /housekeeping\.schedules\.logs: has a day of month that cannot occur/],
])('the operator refuses the schedule of %s %s with the value to correct', async (task, expression, words) => {
  const values = withValue(MIN_VALUES, `housekeeping.schedules.${task}`, expression);
  await expect(operatorConfig(await renderObjects(values))).rejects.toThrow(words);
});

test('writes hosts in lower case, as Ingresses require', async () => {
  const urls = { api: { url: 'https://Coppice.Example.ORG' }, environments: { url: 'https://Env.Example.COM' } };
  const objects = await renderObjects({ ...MIN_VALUES, ...urls });
  const rules = [{ host: 'coppice.example.org' }];
  expect(objectOf(objects, 'Ingress', 'coppice-api')).toMatchObject({ spec: { rules } });
  const policy = objectOf(objects, 'ValidatingAdmissionPolicy', 'coppice-operator-objects');
  expect(JSON.stringify(policy)).toContain("endsWith('.env.example.com')");
});

test.each([
  ['the least', MIN_VALUES],
  ['everything', ALL_VALUES],
  ['what is there already', EXISTING_VALUES],
])('writes configuration that operator and API read for %s', async (_what, values) => {
  const objects = await renderObjects(values);
  expect((await operatorConfig(objects)).registry.address).toBe(values.registry.address);
  expect(apiConfig(objects).redis.url).toBe((await operatorConfig(objects)).redisUrl);
});

test('passes a proxy to the operator under the names that programs read', async () => {
  const proxyOf = async (proxy: object) =>
    (await operatorConfig(await renderObjects({ ...MIN_VALUES, builder: { proxy } }))).builder.proxy;
  expect(await proxyOf({ http: 'http://proxy:3128', noProxy: 'registry' })).toEqual({
    HTTP_PROXY: 'http://proxy:3128',
    NO_PROXY: 'registry',
  });
  expect(await proxyOf({})).toEqual({});
});

test('permits the listed frontends in buildkitd, and only the built-in one for untrusted code', async () => {
  const filesWith = async (builder: object) => {
    const objects = await renderObjects({ ...MIN_VALUES, builder });
    const { builder: settings } = await operatorConfig(objects);
    const { data } = z
      .looseObject({ data: z.record(z.string(), z.string()) })
      .parse(objectOf(objects, 'ConfigMap', settings.configMap));
    return data;
  };
  const disabled = '[frontend."gateway.v0"]\n  enabled = false';
  const files = await filesWith({});
  expect(files['buildkitd.toml']).toContain(
    'allowedRepositories = ["docker.io/docker/dockerfile","docker.io/docker/dockerfile-upstream"]',
  );
  expect(files['buildkitd-untrusted.toml']).toContain(disabled);
  // buildkitd treats an empty list as any.
  expect((await filesWith({ frontends: [] }))['buildkitd.toml']).toContain(disabled);
});

test("passes a registry's path to the operator, and its host and port to buildkitd and the network policy", async () => {
  const registry = {
    address: 'harbor.example.com:8443/coppice',
    layout: 'flat',
    insecure: true,
    credentialsSecret: 'x',
  };
  const objects = await renderObjects({ ...MIN_VALUES, registry });
  const config = await operatorConfig(objects);
  expect(config.registry).toMatchObject({ address: registry.address, layout: 'flat' });
  const buildkitd = JSON.stringify(objectOf(objects, 'ConfigMap', config.builder.configMap));
  expect(buildkitd).toContain('[registry.\\"harbor.example.com:8443\\"]');
  expect(JSON.stringify(objectOf(objects, 'NetworkPolicy', 'coppice-operator'))).toContain('8443');
});

test("passes the registry's credentials as files that the kubelet replaces, and not as variables", async () => {
  const registry = { ...MIN_VALUES.registry, credentialsSecret: 'robot' };
  const operator = objectOf(await renderObjects({ ...MIN_VALUES, registry }), 'Deployment', 'coppice-operator');
  const text = JSON.stringify(operator);
  expect(text).toContain('"secretName":"robot"');
  expect(text).not.toContain('subPath');
  expect(text).not.toContain('"secretKeyRef":{"name":"robot"');
  expect(text).toContain('{"name":"REGISTRY_CREDENTIALS_FOLDER","value":"/etc/coppice-registry"}');
});

const traefikKinds = ['--api-versions', 'traefik.io/v1alpha1/Middleware', '--set', 'crds.enabled=false'];

test('restricts access by a Traefik middleware where Traefik is installed', async () => {
  const objects = objectsIn(await render(MIN_VALUES, ...traefikKinds));
  expect(objectOf(objects, 'Middleware', 'coppice-access')['spec']).toMatchObject({
    forwardAuth: {
      address: 'http://coppice-access.coppice-system.svc/forward-auth',
      trustForwardHeader: false,
      // The services of an environment receive neither: the answer replaces them.
      authResponseHeaders: ['Cookie', 'X-Coppice-Environment-Access'],
    },
  });
  const { ingress } = await operatorConfig(objects);
  const middleware = 'coppice-system-coppice-access@kubernetescrd';
  expect(ingress.enforcement).toEqual({ by: 'traefik', middleware });
  const forwarded = JSON.stringify(objectOf(objects, 'Middleware', 'coppice-access')).toLowerCase();
  expect(forwarded).toContain(ACCESS_HEADER);
  const names = objects.filter(({ kind }) => kind === 'Ingress').map((one) => JSON.stringify(one));
  expect(names.join()).not.toContain('coppice-access');
});

test('uses the middleware of a value, and none without Traefik or with another choice', async () => {
  const access = { default: 'members', middleware: 'coppice-access@file' };
  const given = objectsIn(await render({ ...MIN_VALUES, environments: { access } }, ...traefikKinds));
  expect(given.filter(({ kind }) => kind === 'Middleware')).toEqual([]);
  const config = await operatorConfig(given);
  expect(config.ingress.enforcement).toEqual({ by: 'traefik', middleware: 'coppice-access@file' });
  expect([config.environments.defaultAccess, apiConfig(given).defaultAccess]).toEqual(['members', 'members']);
  for (const [values, flags] of [
    [MIN_VALUES, []],
    [GATEWAY_VALUES, []],
    [{ ...MIN_VALUES, environments: { access: { enforcedBy: 'none' } } }, traefikKinds],
  ] as const) {
    const objects = objectsIn(await render(values, '--set', 'crds.enabled=false', ...flags));
    expect((await operatorConfig(objects)).ingress.enforcement).toBeUndefined();
    expect(objects.map(({ kind }) => kind)).not.toContain('Middleware');
  }
});

const policyText = (objects: Rendered[]) =>
  JSON.stringify(objectOf(objects, 'ValidatingAdmissionPolicy', 'coppice-operator-objects'));

test('lets the operator create middlewares at Gateways of Traefik, and only there', async () => {
  const objects = objectsIn(await render(GATEWAY_VALUES, ...traefikKinds));
  expect((await operatorConfig(objects)).ingress.enforcement).toMatchObject({
    by: 'traefik-gateway',
    forwardAuth: { address: 'http://coppice-access.coppice-system.svc/forward-auth', trustForwardHeader: false },
  });
  expect(objects.map(({ kind }) => kind)).not.toContain('Middleware');
  const [role, policy] = [JSON.stringify(objectOf(objects, 'ClusterRole', 'coppice-operator')), policyText(objects)];
  expect([role, policy].map((text) => text.includes('middlewares'))).toEqual([true, true]);
  const others = objectsIn(await render(MIN_VALUES, ...traefikKinds));
  expect(JSON.stringify(objectOf(others, 'ClusterRole', 'coppice-operator'))).not.toContain('middlewares');
});

test('lets ingress-nginx ask by a name that its resolver completes, and the operator lead hosts to it alone', async () => {
  const environments = { access: { enforcedBy: 'ingress-nginx', clusterDomain: 'k8s.example' } };
  const objects = objectsIn(await render({ ...MIN_VALUES, environments }, ...traefikKinds));
  const host = 'coppice-access.coppice-system.svc.k8s.example';
  expect((await operatorConfig(objects)).ingress.enforcement).toEqual({ by: 'ingress-nginx', host });
  expect(policyText(objects)).toContain(`externalName.orValue('') == '${host}'`);
  expect(policyText(await renderObjects(MIN_VALUES))).not.toContain('externalName');
});

test('passes large numbers to the API as numbers', async () => {
  const objects = await renderObjects({ ...MIN_VALUES, api: { requestsPerMinute: 1_000_000 } });
  expect(apiConfig(objects).limits.requestsPerMinute).toBe(1_000_000);
});

test('uses an external Redis in place of the bundled one, with the password of a Secret', async () => {
  const objects = await renderObjects(EXISTING_VALUES);
  expect(objects.filter(({ metadata }) => metadata.name === 'coppice-redis')).toEqual([]);
  expect(apiConfig(objects).redis.url).toBe('rediss://coppice@redis.example.com:6380/1');
  for (const name of ['coppice-api', 'coppice-operator']) {
    expect(secretOf(containerOf(objects, 'Deployment', name), 'REDIS_PASSWORD')).toBe('redis/password');
  }
  const withoutPassword = await renderObjects({ ...MIN_VALUES, redis: { externalUrl: 'redis://redis.example.com' } });
  expect(secretOf(containerOf(withoutPassword, 'Deployment', 'coppice-api'), 'REDIS_PASSWORD')).toBeUndefined();
});

test('uses the password of a Secret for the bundled Redis too, and then creates none', async () => {
  const objects = await renderObjects({ ...MIN_VALUES, redis: { passwordSecret: { name: 'mine', key: 'word' } } });
  expect(objects.filter(({ kind, metadata }) => kind === 'Secret' && metadata.name === 'coppice-redis')).toEqual([]);
  const containers = [
    containerOf(objects, 'Deployment', 'coppice-api'),
    containerOf(objects, 'Deployment', 'coppice-operator'),
    containerOf(objects, 'StatefulSet', 'coppice-redis'),
  ];
  expect(containers.map((container) => secretOf(container, 'REDIS_PASSWORD'))).toEqual(
    containers.map(() => 'mine/word'),
  );
});

test('takes all images from the configured registry', async () => {
  const objects = await renderObjects(ALL_VALUES);
  const { builder } = await operatorConfig(objects);
  const images = [
    builder.image,
    builder.cloneImage,
    ...objects.flatMap((object) => {
      const workload = workloadSchema.safeParse(object);
      const pod = object.kind === 'Pod' ? podSchema.parse(object['spec']) : workload.data?.spec.template.spec;
      return pod?.containers.map(({ image }) => image) ?? [];
    }),
  ];
  expect(images.length).toBeGreaterThanOrEqual(6);
  for (const image of images) expect(image).toMatch(/^mirror\.example\.com\/coppice\/./);
});

const stampSchema = z.looseObject({
  spec: z.looseObject({ template: z.looseObject({ metadata: z.looseObject({ annotations: z.unknown() }) }) }),
});

test('restarts everything that reads the authorities when they change', async () => {
  const stampsOf = async (name: string) => {
    const caCertificates = `-----BEGIN CERTIFICATE-----\n${name}\n-----END CERTIFICATE-----\n`;
    const objects = await renderObjects({ ...ALL_VALUES, caCertificates });
    return ['coppice-api', 'coppice-operator', 'coppice-tester'].map((deployment) =>
      JSON.stringify(stampSchema.parse(objectOf(objects, 'Deployment', deployment)).spec.template.metadata.annotations),
    );
  };
  const [first, second] = await Promise.all([stampsOf('MIIA'), stampsOf('MIIB')]);
  expect(first.filter((stamp, index) => stamp === second[index])).toEqual([]);
});

test('restarts the operator when its configuration changes, and not after other changes', async () => {
  const stamp = async (values: object) => {
    const objects = await renderObjects({ ...MIN_VALUES, ...values });
    return stampSchema.parse(objectOf(objects, 'Deployment', 'coppice-operator')).spec.template.metadata.annotations;
  };
  const first = await stamp({});
  expect(await stamp({ api: { replicas: 5 } })).toEqual(first);
  expect(await stamp({ operator: { workers: 5 } })).not.toEqual(first);
  expect(await stamp({ registry: { ...MIN_VALUES.registry, credentialsRevision: '2' } })).not.toEqual(first);
});

test('installs the CustomResourceDefinitions, keeps them after uninstalling, and can omit them', async () => {
  const definitions = objectsIn(await render(MIN_VALUES)).filter(({ kind }) => kind === 'CustomResourceDefinition');
  expect(definitions.map(({ metadata }) => metadata.name).sort()).toEqual(
    ['environments', 'groups', 'repositories', 'reusableenvironments'].map((plural) => `${plural}.coppice.dev`),
  );
  for (const { metadata } of definitions) {
    expect(metadata['annotations']).toMatchObject({ 'helm.sh/resource-policy': 'keep' });
  }
  const without = await render({ ...MIN_VALUES, crds: { enabled: false } });
  expect(without).not.toContain('CustomResourceDefinition');
});

const podTemplateSchema = z.looseObject({
  spec: z.looseObject({
    template: z.looseObject({
      metadata: z.looseObject({ labels: z.record(z.string(), z.string()), annotations: z.unknown().optional() }),
      spec: z.looseObject({ serviceAccountName: z.string().optional() }),
    }),
  }),
});

test('can pin every image by its digest', async () => {
  const objects = await renderObjects(ALL_VALUES);
  const { builder } = await operatorConfig(objects);
  const images = [
    builder.image,
    builder.cloneImage,
    ...['api', 'operator', 'tester'].map((name) => containerOf(objects, 'Deployment', `coppice-${name}`).image),
    containerOf(objects, 'StatefulSet', 'coppice-redis').image,
  ];
  for (const image of images) expect(image).toMatch(/^[^@]+:[^@]+@sha256:(5e){32}$/);
});

test.each([
  ['Deployment', 'api'],
  ['Deployment', 'operator'],
  ['Deployment', 'tester'],
  ['StatefulSet', 'redis'],
])('adds to the %s of %s what its pods are given', async (kind, component) => {
  const podLabels = { team: 'platform', 'app.kubernetes.io/name': 'another' };
  const objects = await renderObjects(withValue(ALL_VALUES, `${component}.podLabels`, podLabels));
  const { metadata, spec } = podTemplateSchema.parse(objectOf(objects, kind, `coppice-${component}`)).spec.template;
  // The chart's labels stay, because Services and policies select by them.
  expect(metadata.labels).toMatchObject({ team: 'platform', 'app.kubernetes.io/name': `coppice-${component}` });
  expect(metadata.annotations).toMatchObject({ 'example.org/a': 'b' });
  expect(spec).toMatchObject({
    affinity: { nodeAffinity: {} },
    topologySpreadConstraints: [{ topologyKey: 'topology.kubernetes.io/zone' }],
    volumes: expect.arrayContaining([{ name: 'extra', emptyDir: {} }]),
  });
  expect(containerOf(objects, kind, `coppice-${component}`)).toMatchObject({
    env: expect.arrayContaining([{ name: 'NODE_OPTIONS', value: '--no-deprecation' }]),
    volumeMounts: expect.arrayContaining([{ name: 'extra', mountPath: '/extra' }]),
  });
});

test('annotates ServiceAccounts', async () => {
  const objects = await renderObjects(ALL_VALUES);
  for (const name of ['coppice-api', 'coppice-operator']) {
    expect(objectOf(objects, 'ServiceAccount', name).metadata).toMatchObject({
      annotations: { 'example.org/role': 'coppice' },
    });
  }
});

test('spreads replicas over nodes by default', async () => {
  const objects = await renderObjects(MIN_VALUES);
  const { spec } = podTemplateSchema.parse(objectOf(objects, 'Deployment', 'coppice-api')).spec.template;
  expect(spec).toMatchObject({ topologySpreadConstraints: [{ topologyKey: 'kubernetes.io/hostname' }] });
});

test('passes the scheduling of pods to the operator, without empty values', async () => {
  const { environments, builder } = await operatorConfig(await renderObjects(ALL_VALUES));
  for (const scheduling of [environments.scheduling, builder.scheduling, builder.jobScheduling]) {
    expect(scheduling).toMatchObject({ nodeSelector: { pool: 'strangers' }, runtimeClassName: 'gvisor' });
  }
  expect(environments.platform).toBe('linux/amd64');
  const plain = await operatorConfig(await renderObjects(MIN_VALUES));
  expect(plain.environments.scheduling).toEqual({});
  expect(plain.egress).toEqual(DEFAULT_EGRESS);
});

test('selects pods with metrics by their port in the PodMonitor', async () => {
  const objects = await renderObjects(EXISTING_VALUES);
  expect(objectOf(objects, 'PodMonitor', 'coppice')['spec']).toMatchObject({
    selector: {
      matchExpressions: [
        {
          operator: 'In',
          values: ['coppice-operator', 'coppice-api', 'coppice-waker', 'coppice-tester', 'coppice-registry-tokens'],
        },
      ],
    },
    podMetricsEndpoints: [{ port: 'health', path: '/metrics' }],
  });
});

/** Returns the paths of empty lists and maps, which the API server does not store, so that they would always differ. */
function empties(value: unknown, path: string): string[] {
  if (typeof value !== 'object' || value === null) return [];
  const entries = Object.entries(value);
  return entries.length === 0 ? [path] : entries.flatMap(([key, one]) => empties(one, `${path}.${key}`));
}

/** Here an empty map has a meaning: everything is selected, or a volume has no settings. */
const meaningful = /\.(podSelector|namespaceSelector|emptyDir|nodeAffinity|subresources\.status)$/;

test.each([
  ['the least', MIN_VALUES],
  ['everything', ALL_VALUES],
])('renders nothing empty for %s', async (_what, values) => {
  const objects = objectsIn(await render(values));
  const found = objects.flatMap((object) => empties(object, `${object.kind} ${object.metadata.name}`));
  expect(found.filter((path) => !meaningful.test(path) && !path.includes('openAPIV3Schema'))).toEqual([]);
});
