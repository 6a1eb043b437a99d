import { describe, expect, test } from '@jest/globals';
import { Stalled } from '../errors.ts';
import { SourceRefusedError, SourceUnreachableError } from '../source/errors.ts';
import type { Source, SourceSnapshot } from '../source/source.ts';
import { parseTree } from '../source/tree.ts';
import { Planner } from './planner.ts';
import type { Version } from './version.ts';
import type { VersionStore } from './version-store.ts';

const request = {
  access: { origin: 'http://git/x', credentials: undefined },
  ref: { name: 'main', type: 'branch' },
  place: { namespace: 'env-x', namespaceUid: 'u', labels: {} },
} as const;

interface World {
  resolve?: () => Promise<string>;
  snapshot?: () => Promise<void>;
  files?: Record<string, string>;
  stored?: Version;
}

function plannerIn(world: World) {
  let seconds = 0;
  const saved: Version[] = [];
  const files = world.files ?? {};
  const listing = Object.keys(files).map((path) => `100644 blob b1\t${path}\0`);
  const snapshot: SourceSnapshot = {
    commit: 'c1',
    entries: parseTree(listing.join(''), 'a1'),
    readFile: (path) => Promise.resolve(files[path] ?? ''),
  };
  const source = {
    resolve: world.resolve ?? (() => Promise.resolve('c1')),
    snapshot: async (_access: object, _ref: object, read: (given: SourceSnapshot) => Promise<Version>) => {
      await world.snapshot?.();
      return read(snapshot);
    },
  } as unknown as Source;
  const versions = {
    find: () => Promise.resolve(world.stored),
    save: (_place: object, version: Version) => {
      saved.push(version);
      return Promise.resolve(version);
    },
  } as unknown as VersionStore;
  const settings = { registry: 'registry:5000', sourceDeadlineSeconds: 60 };
  const planner = new Planner(source, versions, settings, () => new Date(seconds * 1000));
  return { planner, saved, at: (time: number) => (seconds = time) };
}

const refusals: [string, World, string, RegExp][] = [
  [
    'a ref that is gone',
    { resolve: () => Promise.reject(new SourceRefusedError('RefNotFound', 'gone')) },
    'RefNotFound',
    /gone/,
  ],
  ['no service file', { files: { 'README.md': '' } }, 'ServiceFileMissing', /no service file/],
  [
    'an unknown key',
    { files: { 'compose.yaml': 'services:\n  web:\n    imag: x\n' } },
    'ServiceFileInvalid',
    /compose\.yaml:3:5/,
  ],
  [
    'a context that is not there',
    { files: { 'compose.yaml': 'services:\n  web:\n    build: ./web\n' } },
    'ServiceFileInvalid',
    /web is not in the repository/,
  ],
  [
    "an image of Coppice's own registry",
    { files: { 'compose.yaml': 'services:\n  web:\n    image: Registry:5000/other/shop/web\n' } },
    'ServiceFileInvalid',
    /can only be built/,
  ],
  [
    'an image by a bare digest',
    { files: { 'compose.yaml': 'services:\n  web:\n    image: "sha256:9dbfea"\n' } },
    'ServiceFileInvalid',
    /names no repository/,
  ],
];

test.each(refusals)('%s: the author must act', async (_what, world, reason, words) => {
  const planning = plannerIn(world).planner.plan(request);
  await expect(planning).rejects.toThrow(Stalled);
  await expect(planning).rejects.toMatchObject({ reason, message: expect.stringMatching(words) });
});

test('a commit that was planned before is not read again', async () => {
  const stored = { commit: 'c1', serviceFile: { services: [], publicRoutes: [] }, images: [], warnings: [] };
  const { planner, saved } = plannerIn({ stored, snapshot: () => Promise.reject(new Error('read')) });
  expect(await planner.plan(request)).toBe(stored);
  expect(saved).toEqual([]);
});

test('a Dockerfile alone is a service', async () => {
  const { planner, saved } = plannerIn({ files: { Dockerfile: 'FROM x\nEXPOSE 80\n' } });
  const version = await planner.plan(request);
  expect(version.serviceFile.services.map(({ name }) => name)).toEqual(['app']);
  expect(version.images).toEqual([expect.objectContaining({ service: 'app', context: '.', dockerfile: 'Dockerfile' })]);
  expect(saved).toEqual([version]);
});

describe('a host that is silent', () => {
  const silent = () => Promise.reject(new SourceUnreachableError('no answer'));

  test.each([
    ['at once', { resolve: silent }],
    ['only when files are read', { snapshot: silent }],
  ])('%s is asked again until the deadline, counted from its first silence', async (_when, world) => {
    const { planner, at } = plannerIn(world);
    for (const time of [1000, 1030, 1059]) {
      at(time);
      await expect(planner.plan(request)).rejects.toThrow(SourceUnreachableError);
    }
    at(1060);
    await expect(planner.plan(request)).rejects.toMatchObject({ reason: 'SourceUnreachable' });
    at(1061);
    await expect(planner.plan(request)).rejects.toThrow(SourceUnreachableError);
  });
});
