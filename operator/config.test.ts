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
async function read(address: string, mirrors: string[]): Promise<OperatorConfig> {
  const file = join(folder, 'config.yaml');
  const config = {
    systemNamespace: 'coppice',
    redisUrl: 'redis://redis',
    apiUrl: 'https://coppice.example.org',
    environmentsUrl: 'https://env.example.com',
    ingress: { namespace: 'ingress' },
    registry: { address, mirrors: { 'docker.io': mirrors } },
    builder: {
      namespace: 'builders',
      image: 'buildkit',
      configMap: 'buildkitd',
      cloneImage: 'coppice',
      deadlineSeconds: 60,
      cache: { size: '1Gi' },
      throwaway: { atOnce: 1, storage: '1Gi' },
      resources: {},
    },
    sources: {},
    environments: { quota: {}, defaultRequests: {}, defaultLimits: {}, volumes: { size: '1Gi' } },
    groups: { memberRole: 'member', apiRole: 'api', apiServiceAccount: 'api' },
  };
  // JSON is YAML.
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
])('at the registry %s, %s may stand in for Docker Hub', async (address, mirror) => {
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
])('at the registry %s, %s would lead to built images by the name of Docker Hub', async (address, mirror) => {
  await expect(read(address, ['mirror.example.com', mirror])).rejects.toThrow(
    'registry.mirrors.docker.io: names the whole registry that built images are in',
  );
});

test.each([
  'europe-docker.pkg.dev/my-project/images',
  '123456789012.dkr.ecr.eu-central-1.amazonaws.com/coppice',
  'harbor.example.com:8443/coppice',
  'ghcr.io/acme',
  'docker.io/acme',
])('built images can go to %s', async (address) => {
  expect((await read(address, [])).registry).toMatchObject({ address, layout: 'nested' });
});

test.each(['https://ghcr.io/acme', 'ghcr.io/Acme', 'ghcr.io/', 'ghcr.io/a//b', 'ghcr.io/a/../b', 'me@ghcr.io'])(
  'built images cannot go to %s',
  async (address) => {
    await expect(read(address, [])).rejects.toThrow('registry.address: must be host[:port][/path]');
  },
);

test.each(['https://registry:5000', '//registry:5000', 'x@registry:5000', 'registry:5000/x/..', 'registry:5000//'])(
  'a mirror such as %s is none',
  async (mirror) => {
    await expect(read('registry:5000', [mirror])).rejects.toThrow('must be host[:port][/path]');
  },
);
