import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { readConfig, type OperatorConfig } from './config.ts';

let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'config-'));
});

afterAll(() => rm(folder, { recursive: true }));

/** Reads a configuration whose registry is at `address`, with these mirrors of Docker Hub. */
async function read(
  address: string,
  mirrors: string[],
  { cacheSize = '1Gi', ...registry }: { cacheSize?: string; tokenAuth?: object } = {},
): Promise<OperatorConfig> {
  const file = join(folder, 'config.yaml');
  const config = {
    systemNamespace: 'coppice',
    redisUrl: 'redis://redis',
    apiUrl: 'https://coppice.example.org',
    environmentsUrl: 'https://env.example.com',
    ingress: { namespace: 'ingress' },
    registry: { address, mirrors: { 'docker.io': mirrors }, ...registry },
    builder: {
      namespace: 'builders',
      image: 'buildkit',
      configMap: 'buildkitd',
      cloneImage: 'coppice',
      deadlineSeconds: 60,
      cache: { size: cacheSize },
      ephemeral: { maxConcurrent: 1, storage: '1Gi' },
      resources: {},
    },
    sources: {},
    environments: { quota: {}, defaultRequests: {}, defaultLimits: {}, volumes: { size: '1Gi' } },
    groups: { memberRole: 'member', apiRole: 'api', apiServiceAccount: 'api' },
  };
  // JSON is a subset of YAML.
  await writeFile(file, JSON.stringify(config));
  return readConfig(file);
}

test.each([
  ['registry:5000', 'registry:5000/docker.io'],
  ['registry:5000', 'registry:5001'],
  ['registry:5000', 'mirror.example.com'],
  ['registry.example.com', 'registry.example.com/proxies/docker.io/'],
  ['ghcr.io/acme/coppice', 'ghcr.io/acme/coppice-mirror'],
  ['ghcr.io/acme/coppice', 'ghcr.io/acme/coppice/docker.io'],
])('at the registry %s, permits %s as a mirror of Docker Hub', async (address, mirror) => {
  expect((await read(address, [mirror])).registry.mirrors).toEqual({ 'docker.io': [mirror] });
});

test.each([
  ['registry:5000', 'registry:5000'],
  ['registry:5000', 'registry:5000/'],
  ['registry:5000', 'Registry:5000'],
  ['registry.example.com', 'registry.example.com:443'],
  ['registry.example.com:443', 'registry.example.com.'],
  ['ghcr.io/acme/coppice', 'ghcr.io'],
  ['ghcr.io/acme/coppice', 'GHCR.io/acme/'],
  ['ghcr.io/acme/coppice', 'ghcr.io/acme/coppice'],
])(
  'at the registry %s, refuses %s as a mirror of Docker Hub, which would lead to built images',
  async (address, mirror) => {
    await expect(read(address, ['mirror.example.com', mirror])).rejects.toThrow(
      'registry.mirrors.docker.io: names the whole registry of built images',
    );
  },
);

test.each([
  'europe-docker.pkg.dev/my-project/images',
  '123456789012.dkr.ecr.eu-central-1.amazonaws.com/coppice',
  'harbor.example.com:8443/coppice',
  'ghcr.io/acme',
  'docker.io/acme',
])('permits built images at %s', async (address) => {
  expect((await read(address, [])).registry).toMatchObject({ address, layout: 'nested' });
});

test.each(['https://ghcr.io/acme', 'ghcr.io/Acme', 'ghcr.io/', 'ghcr.io/a//b', 'ghcr.io/a/../b', 'me@ghcr.io'])(
  'refuses built images at %s',
  async (address) => {
    await expect(read(address, [])).rejects.toThrow('registry.address: must be host[:port][/path]');
  },
);

test.each(['https://registry:5000', '//registry:5000', 'x@registry:5000', 'registry:5000/x/..', 'registry:5000//'])(
  'refuses the mirror %s',
  async (mirror) => {
    await expect(read('registry:5000', [mirror])).rejects.toThrow('must be host[:port][/path]');
  },
);

test.each(['', 'Gi', '20 Gi', '20gb', '-1Gi', '500m'])('refuses the cache size %j', async (size) => {
  await expect(read('registry:5000', [], { cacheSize: size })).rejects.toThrow(
    'builder.cache.size: must be an amount of storage',
  );
});

test.each([
  [{ url: 'https://coppice.example.org/registry/token', service: 'registry:5000' }, undefined],
  [{ url: 'ftp://coppice.example.org', service: 'registry:5000' }, 'registry.tokenAuth.url'],
  [{ url: 'https://coppice.example.org' }, 'registry.tokenAuth.service'],
])('reads or refuses the token server %j, naming it', async (tokenAuth, refused) => {
  const reading = read('registry:5000', [], { tokenAuth });
  if (refused !== undefined) await expect(reading).rejects.toThrow(refused);
  else expect((await reading).registry.tokenAuth?.url.pathname).toBe('/registry/token');
});
