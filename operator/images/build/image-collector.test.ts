import { describe, expect, test } from '@jest/globals';
import { pino } from 'pino';
import type { Environment } from '../../../crds/environment.ts';
import type { Job } from '../../../kubernetes/resource-type.ts';
import { RECORD_ANNOTATION } from './resolved-build.ts';
import { FoundImages } from '../registry/found-images.ts';
import { ImageCollector, type ImageCollectorOptions, type StoredImages } from './image-collector.ts';

const now = new Date('2026-06-10T00:00:00Z');
const old = '2026-06-01T00:00:00Z';
const young = '2026-06-09T12:00:00Z';

/** When Coppice built each image, by `REPOSITORY:TAG`, and `by` which installation; `''` for images of others. */
type Images = Record<string, string>;

function collector(images: Images, options: Partial<ImageCollectorOptions> = {}, lists = true) {
  const asked: string[] = [];
  const there = new Map(Object.entries(images));
  const digestOf = (name: string) => `sha256:${name.replace(/.*:/, '')}`;
  const registry: ImageCollectorOptions['registry'] = {
    repositories: () => {
      const all = new Set([...there.keys()].map((name) => name.split(':')[0] ?? ''));
      return Promise.resolve(lists ? [...all] : undefined);
    },
    tags: (repository) =>
      Promise.resolve(
        [...there.keys()].filter((name) => name.startsWith(`${repository}:`)).map((name) => name.split(':')[1] ?? ''),
      ),
    find: (repository, tag) => {
      asked.push(`${repository}:${tag}`);
      const built = there.get(`${repository}:${tag}`);
      if (built === undefined) return Promise.resolve(undefined);
      const [time = '', by] = built.split(' by ');
      const annotations: Record<string, string> = {
        ...(time !== '' && { 'dev.coppice.built': time }),
        ...(by !== undefined && { 'dev.coppice.installation': by }),
      };
      const layers = [
        { digest: 'base', sizeBytes: 9 * 2 ** 20 },
        { digest: tag, sizeBytes: 2 ** 20 },
      ];
      return Promise.resolve({ digest: digestOf(tag), layers, annotations });
    },
    delete: (repository, digest) => {
      for (const name of [...there.keys()]) {
        if (name.startsWith(`${repository}:`) && digestOf(name) === digest) there.delete(name);
      }
      return Promise.resolve();
    },
  };
  const made = new ImageCollector({
    registry,
    imageRegistry: { address: 'r:5000', layout: 'nested' },
    groupNames: () => ['acme'],
    installation: () => Promise.resolve('i1'),
    environments: () => [],
    reusables: () => [],
    jobs: () => [],
    found: new FoundImages(),
    observe: () => undefined,
    keepMs: 24 * 3600_000,
    now: () => now,
    logger: pino({ level: 'silent' }),
    ...options,
  });
  return { made, asked, left: () => [...there.keys()] };
}

function environment(...images: string[]): Pick<Environment, 'status'> {
  const build = { number: 1, result: 'succeeded' as const, startedAt: old };
  return { status: { deployed: { ...build, images: images.map((image) => ({ service: 'web', image })) } } };
}

describe('the collector', () => {
  test('deletes old unused images of Coppice, and no others', async () => {
    const { made, left } = collector({
      'acme/shop/web:unused': old,
      'acme/shop/untrusted/web:unused2': old,
      'acme/shop/web:young': young,
      'acme/shop/web:foreign': '',
      'other/shop/web:x': old,
      'acme/tool:x': old,
    });
    expect(await made.sweep()).toEqual(['acme/shop/web@sha256:unused', 'acme/shop/untrusted/web@sha256:unused2']);
    expect(left()).toEqual(['acme/shop/web:young', 'acme/shop/web:foreign', 'other/shop/web:x', 'acme/tool:x']);
  });

  test('deletes old images in a registry without folders', async () => {
    const { made, left } = collector(
      {
        'acme.shop.web:unused': old,
        'acme.shop.untrusted.web:unused2': old,
        'acme.shop.web:t1': old,
        'other.shop.web:x': old,
        'acme.tool:x': old,
        'acme/shop/web:x': old,
      },
      {
        imageRegistry: { address: 'docker.io/company', layout: 'flat' },
        environments: () => [environment('docker.io/company/acme.shop.web@sha256:t1')],
      },
    );
    expect(await made.sweep()).toEqual(['acme.shop.web@sha256:unused', 'acme.shop.untrusted.web@sha256:unused2']);
    expect(left()).toEqual(['acme.shop.web:t1', 'other.shop.web:x', 'acme.tool:x', 'acme/shop/web:x']);
  });

  test.each<[string, Partial<ImageCollectorOptions>]>([
    ['an Environment runs', { environments: () => [environment('r:5000/acme/shop/web@sha256:t1')] }],
    [
      'an Environment’s last build gave',
      {
        environments: () => {
          const { status } = environment('r:5000/acme/shop/web@sha256:t1');
          return [{ status: { build: status?.deployed } }];
        },
      },
    ],
    [
      'a ReusableEnvironment holds',
      { reusables: () => [{ status: { images: [{ service: 'web', image: 'r:5000/acme/shop/web@sha256:t1' }] } }] },
    ],
    [
      'a build’s Job names',
      {
        jobs: () => {
          const record = JSON.stringify({ references: { web: 'r:5000/acme/shop/web:t1' }, digests: {} });
          const metadata: Job['metadata'] = { name: 'build-1', annotations: { [RECORD_ANNOTATION]: record } };
          return [{ metadata }];
        },
      },
    ],
    [
      'a build has just found',
      {
        found: (() => {
          const found = new FoundImages();
          found.add('r:5000/acme/shop/web@sha256:t1', now);
          return found;
        })(),
      },
    ],
  ])('keeps an image that %s', async (_what, parts) => {
    expect(await collector({ 'acme/shop/web:t1': old }, parts).made.sweep()).toEqual([]);
  });

  test('keeps an image that is named while others are checked', async () => {
    let named: string[] = [];
    const { made, left } = collector(
      { 'acme/shop/web:t1': old },
      {
        environments: () => {
          const all = [environment(...named)];
          named = ['r:5000/acme/shop/web@sha256:t1'];
          return all;
        },
      },
    );
    expect(await made.sweep()).toEqual([]);
    expect(left()).toEqual(['acme/shop/web:t1']);
  });

  test('collects the names of images in use once for all images that stay', async () => {
    let gathered = 0;
    const images = Object.fromEntries(Array.from({ length: 50 }, (_, at) => [`acme/shop/web:t${at}`, old]));
    const names = Object.keys(images).map((name) => `r:5000/${name.replace(':', '@sha256:')}`);
    const { made } = collector(images, {
      environments: () => {
        gathered += 1;
        return [environment(...names)];
      },
    });
    expect(await made.sweep()).toEqual([]);
    expect(gathered).toBe(1);
  });

  test('treats the same digest under another name as another image', async () => {
    const parts = { environments: () => [environment('r:5000/acme/shop/api@sha256:t1')] };
    expect(await collector({ 'acme/shop/web:t1': old }, parts).made.sweep()).toEqual(['acme/shop/web@sha256:t1']);
  });
});

test("uses the repositories of Environments' images if the registry has no list", async () => {
  const parts = { environments: () => [environment('r:5000/acme/shop/web@sha256:t1')] };
  const { made } = collector(
    { 'acme/shop/web:t1': old, 'acme/shop/web:t2': old, 'acme/shop/api:t3': old },
    parts,
    false,
  );
  expect(await made.sweep()).toEqual(['acme/shop/web@sha256:t2']);
});

test('requests each image once, not at every sweep', async () => {
  const { made, asked } = collector({ 'acme/shop/web:young': young, 'acme/shop/web:foreign': '' });
  await made.sweep();
  await made.sweep();
  expect(asked).toEqual(['acme/shop/web:young', 'acme/shop/web:foreign']);
});

test('deletes what this installation built for groups that are gone, and checks repositories of others once', async () => {
  let groups = ['acme'];
  const { made, asked, left } = collector(
    {
      'gone/shop/web:t1': `${old} by i1`,
      'gone/shop/web:t2': `${young} by i1`,
      'gone/shop/api:t3': `${old} by i2`,
      'gone/shop/job:t4': old,
      'gone/shop/db:t5': '',
    },
    { groupNames: () => groups },
  );
  expect(await made.sweep()).toEqual(['gone/shop/web@sha256:t1']);
  expect(left()).toEqual(['gone/shop/web:t2', 'gone/shop/api:t3', 'gone/shop/job:t4', 'gone/shop/db:t5']);
  asked.length = 0;
  expect(await made.sweep()).toEqual([]);
  expect(asked).toEqual([]);
  groups = ['acme', 'gone'];
  expect(await made.sweep()).toEqual(['gone/shop/api@sha256:t3', 'gone/shop/job@sha256:t4']);
});

test('reports what it deleted, and the size of what it left', async () => {
  const stored: StoredImages[] = [];
  const observe = (images: StoredImages) => void stored.push(images);
  const { made } = collector(
    { 'acme/shop/web:t1': old, 'acme/shop/web:t2': young, 'acme/shop/api:t3': young },
    { observe },
  );
  expect(await made.run()).toEqual({ message: '1 images deleted, 2 with 11 MiB left' });
  // Both images contain the layer `base`.
  expect(stored).toEqual([{ images: 2, bytes: 11 * 2 ** 20 }]);
});

test('keeps an image that was found for a limited time', () => {
  const found = new FoundImages();
  found.add('a', now);
  expect(found.has('a', new Date(now.getTime() + 60_000))).toBe(true);
  expect(found.has('a', new Date(now.getTime() + 3600_000))).toBe(false);
  expect(found.has('b', now)).toBe(false);
});
