import { expect, test } from '@jest/globals';
import type { FileBundle, Mount } from '../../../service-file/schema.ts';
import { deployment } from './deployment.ts';
import { mounts } from './mounts.ts';
import { sampleContext, sampleService } from './testing/sample-context.ts';
import { claim, volumesOf } from './volumes.ts';

const at = (object: string, key: string) => ({ object, key, bytes: 1 });
const bundles: FileBundle[] = [
  { name: 'files-1', secret: false, files: [{ key: 'a', path: 'conf.d/a.conf', mode: 0o644 }] },
  { name: 'files-2', secret: true, files: [{ key: 'p', path: 'password', mode: 0o400 }] },
  {
    name: 'files-3',
    secret: false,
    files: [{ key: 'a', path: 'a.conf', mode: 0o644, stored: at('file-a', 'content') }],
  },
  {
    name: 'files-4',
    secret: false,
    files: [
      { key: 'a', path: 'a.conf', mode: 0o644, stored: at('file-a', 'content') },
      { key: 'b', path: 'b.conf', mode: 0o755, stored: at('file-bc', 'b') },
      { key: 'c', path: 'd/c.conf', mode: 0o644, stored: at('file-bc', 'c') },
    ],
  },
  { name: 'files-5', secret: false, files: [] },
];

function mounted(mount: Mount, readOnly = false) {
  const service = sampleService({ mounts: [mount], readOnly });
  return mounts(sampleContext({ services: [service], bundles }), service);
}

test.each([
  [
    { type: 'volume', volume: 'db', target: '/data', readOnly: false },
    { name: 'volume-db', persistentVolumeClaim: { claimName: 'volume-db' } },
    { subPath: 'data' },
  ],
  [
    { type: 'volume', volume: 'My_Data', target: '/data', readOnly: true, subPath: 'x' },
    {
      name: expect.stringMatching(/^volume-my-data-[0-9a-f]{8}$/) as unknown,
      persistentVolumeClaim: expect.anything() as unknown,
    },
    { subPath: 'data/x', readOnly: true },
  ],
  [
    { type: 'empty', target: '/tmp', memory: true, size: '64Mi' },
    { name: 'empty-0', emptyDir: { medium: 'Memory', sizeLimit: '64Mi' } },
    {},
  ],
  [
    { type: 'files', bundle: 'files-1', target: '/etc/app' },
    { name: 'files-1', configMap: { name: 'files-1', items: bundles[0]!.files } },
    { readOnly: true },
  ],
  [
    { type: 'files', bundle: 'files-2', target: '/run/secrets/p', key: 'p' },
    { name: 'files-2', secret: { secretName: 'files-2', items: bundles[1]!.files } },
    { readOnly: true, subPath: 'password' },
  ],
  [
    { type: 'files', bundle: 'files-3', target: '/etc/a', key: 'a' },
    { name: 'files-3', configMap: { name: 'file-a', items: [{ key: 'content', path: 'a.conf', mode: 0o644 }] } },
    { readOnly: true, subPath: 'a.conf' },
  ],
  [
    { type: 'files', bundle: 'files-4', target: '/etc/app' },
    {
      name: 'files-4',
      projected: {
        sources: [
          { configMap: { name: 'file-a', items: [{ key: 'content', path: 'a.conf', mode: 0o644 }] } },
          {
            configMap: {
              name: 'file-bc',
              items: [
                { key: 'b', path: 'b.conf', mode: 0o755 },
                { key: 'c', path: 'd/c.conf', mode: 0o644 },
              ],
            },
          },
        ],
      },
    },
    { readOnly: true },
  ],
  [{ type: 'files', bundle: 'files-5', target: '/etc/app' }, { name: 'files-5', emptyDir: {} }, { readOnly: true }],
] as [Mount, object, object][])('%j', (mount, volume, how) => {
  const { volumes, volumeMounts } = mounted(mount);
  expect(volumes).toEqual([volume]);
  expect(volumeMounts).toEqual([{ name: volumes[0]?.name, mountPath: mount.target, ...how }]);
});

test("keeps an anonymous volume in the container's file system, which has the image's files there", () => {
  const anonymous: Mount = { type: 'empty', target: '/app/node_modules', memory: false };
  expect(mounted(anonymous).volumeMounts).toEqual([]);
  expect(mounted(anonymous, true).volumes).toEqual([{ name: 'empty-0', emptyDir: {} }]);
});

test('mounts a bundle twice by one volume of the pod', () => {
  const service = sampleService({
    mounts: [
      { type: 'files', bundle: 'files-1', target: '/a' },
      { type: 'files', bundle: 'files-1', target: '/b', key: 'a' },
    ],
  });
  const made = mounts(sampleContext({ services: [service], bundles }), service);
  expect(made.volumes).toHaveLength(1);
  expect(made.volumeMounts).toHaveLength(2);
});

test("makes a volume writable for the service's user, and keeps its pods on one node", () => {
  const service = sampleService({ mounts: [{ type: 'volume', volume: 'db', target: '/data', readOnly: false }] });
  const pod = deployment(sampleContext({ services: [service] }), service, 1).spec?.template;
  expect(pod?.spec?.securityContext).toMatchObject({ fsGroup: 20_000, fsGroupChangePolicy: 'OnRootMismatch' });
  expect(pod?.metadata?.labels).toHaveProperty(['volume.coppice.dev/db'], 'true');
  expect(pod?.spec?.affinity?.podAffinity?.requiredDuringSchedulingIgnoredDuringExecution).toEqual([
    { topologyKey: 'kubernetes.io/hostname', labelSelector: { matchLabels: { 'volume.coppice.dev/db': 'true' } } },
  ]);
});

test('requests the size and class of the file or the chart, and records what fills the claim', () => {
  const seed = sampleService({ name: 'api-seed', runs: 'once per volume', seeds: 'db' });
  const context = sampleContext({ services: [seed], volumes: [{ name: 'db', size: '5Gi', storageClass: 'fast' }] });
  expect(claim(context, volumesOf(context)[0]!)).toMatchObject({
    metadata: { name: 'volume-db', annotations: { 'seed.coppice.dev/api-seed': 'pending' } },
    spec: {
      accessModes: ['ReadWriteOnce'],
      resources: { requests: { storage: '5Gi' } },
      storageClassName: 'fast',
    },
  });
  expect(claim(context, { name: 'other' })).toMatchObject({ spec: { resources: { requests: { storage: '1Gi' } } } });
});
