import { randomBytes } from 'node:crypto';
import { get, type RequestOptions } from 'node:https';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { ClusterClient } from '../../kubernetes/client.ts';
import { resourcePath } from '../../kubernetes/resource-path.ts';
import { ConfigMap, Secret } from '../../kubernetes/resource-type.ts';
import { RevisionStore } from '../../operator/kinds/environment/revision/revision-store.ts';
import { EXAMPLE_FACTS, OwnVariables } from '../../service-file/own-variables.ts';
import { memoryFiles } from '../../service-file/memory-files.ts';
import { readServiceFile } from '../../service-file/parse.ts';
import { createNamespace, deleteNamespace, testClient, testKubeConfig } from './api-server.ts';

/** What etcd stores for revisions that mount 850 KiB of files, against a real API server. */
const kibibyte = 1024;
const small = Object.fromEntries(
  Array.from({ length: 250 }, (_, index) => [`conf/${index}.conf`, randomBytes(kibibyte)] as const),
);
const files: Record<string, string | Buffer> = {
  'compose.yaml': [
    'services:',
    '  web:',
    '    image: nginx',
    '    volumes: ["./conf:/etc/conf", "./large:/srv/large"]',
    '    secrets: [token]',
    '  worker:',
    '    image: busybox',
    '    volumes: ["./large/one:/one"]',
    'secrets: { token: { file: ./large/two } }',
  ].join('\n'),
  'large/one': randomBytes(150 * kibibyte),
  'large/two': randomBytes(150 * kibibyte),
  ...small,
};

let client: ClusterClient;
let location: { namespace: string; namespaceUid: string; labels: Record<string, string> };
let store: RevisionStore;

beforeAll(async () => {
  client = testClient();
  location = { namespace: await createNamespace(client), namespaceUid: 'u', labels: {} };
  store = new RevisionStore(client);
});
afterAll(async () => {
  await deleteNamespace(client, location.namespace);
  client.close();
});

/** Returns the bytes of an object as etcd stores it, by its resource version. */
async function storedObjects(): Promise<Map<string, number>> {
  const { namespace } = location;
  const stored = new Map<string, number>();
  for (const type of [ConfigMap, Secret]) {
    const { items } = await client.list<ConfigMap | Secret>(type, { namespace });
    for (const { metadata } of items) {
      if (metadata.name === 'kube-root-ca.crt') continue;
      const path = resourcePath(type, { namespace, name: metadata.name });
      stored.set(`${metadata.name} ${metadata.resourceVersion}`, await protobufBytes(path));
    }
  }
  return stored;
}

async function protobufBytes(path: string): Promise<number> {
  const config = testKubeConfig();
  const options: RequestOptions = {};
  await config.applyToHTTPSOptions(options);
  const headers = { accept: 'application/vnd.kubernetes.protobuf' };
  const url = `${config.getCurrentCluster()?.server ?? ''}${path}`;
  return new Promise((resolve, reject) => {
    get(url, { ...options, headers }, (response) => {
      let bytes = 0;
      response.on('data', (chunk: Buffer) => (bytes += chunk.length));
      response.on('end', () => resolve(bytes));
    }).on('error', reject);
  });
}

interface Push {
  /** Number and bytes of the objects that were written, as etcd stores them. */
  objects: number;
  bytes: number;
  /** Bytes that the budget counts. */
  counted: number;
}

/** Stores a commit as the next revision. */
async function push(id: string, kept: string[], changed: Record<string, Buffer>): Promise<Push> {
  const before = await storedObjects();
  const { serviceFile, contents, errors } = await readServiceFile({
    files: memoryFiles({ ...files, ...changed }),
    variables: new Map(),
    own: new OwnVariables(EXAMPLE_FACTS),
    settings: { mode: 'repo' },
    hashKey: Buffer.from('key'),
  });
  if (!serviceFile) throw new Error(JSON.stringify(errors));
  let counted = 0;
  const budget = { requireRoom: () => undefined, spend: (bytes: number) => void (counted += bytes) };
  const revision = { id, commit: id, serviceFile, images: [], warnings: [] };
  await store.save(location, revision, contents, { kept, budget });
  const after = await storedObjects();
  const written = [...after].filter(([version]) => !before.has(version));
  return { objects: written.length, bytes: written.reduce((sum, [, bytes]) => sum + bytes, 0), counted };
}

test('writes only changed files after a push, once', async () => {
  const first = await push('v1', [], {});
  const same = await push('v2', ['v1'], {});
  const large = await push('v3', ['v2'], { 'large/one': randomBytes(150 * kibibyte) });
  const one = await push('v4', ['v3'], { 'conf/7.conf': randomBytes(kibibyte) });
  // 'large/one' is mounted twice, and 'large/two' also as a secret, which is an object of its own.
  expect(first.bytes / kibibyte).toBeGreaterThan(700);
  expect(first.bytes / kibibyte).toBeLessThan(740);
  expect(same).toMatchObject({ objects: 1 });
  expect(same.bytes / kibibyte).toBeLessThan(16);
  expect(large).toMatchObject({ objects: 2 });
  expect(large.bytes / kibibyte).toBeLessThan(170);
  expect(one).toMatchObject({ objects: 2 });
  expect(one.bytes / kibibyte).toBeLessThan(100);
  // The budget also counts what runs the services, which is not created here.
  for (const { bytes, counted } of [first, same, large, one]) {
    expect(counted).toBeGreaterThan(bytes);
    expect(counted - bytes).toBeLessThan(64 * kibibyte);
  }
});
