import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { ImageStore } from './image-store.ts';
import { run } from '../../support/run.ts';

const digestOf = (text: string) => createHash('sha256').update(text).digest('hex');

describe('ImageStore', () => {
  let folder: string;
  let store: ImageStore;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'image-store-'));
    store = new ImageStore(join(folder, 'store'));
  });

  afterEach(() => rmSync(folder, { recursive: true }));

  /** Lays out an unpacked archive as `docker save` of Docker 20.10 gives it: equal layers are links. */
  function archive(images: Record<string, readonly string[]>): string {
    const path = mkdtempSync(join(folder, 'archive-'));
    const files = new Map<string, string>();
    let count = 0;
    const manifest = Object.entries(images).map(([image, layers]) => {
      const config = JSON.stringify({
        for: image,
        rootfs: { diff_ids: layers.map((one) => `sha256:${digestOf(one)}`) },
      });
      writeFileSync(join(path, `${digestOf(config)}.json`), config);
      const paths = layers.map((layer) => {
        const name = `${(count += 1)}/layer.tar`;
        mkdirSync(join(path, String(count)));
        const known = files.get(layer);
        if (known === undefined) writeFileSync(join(path, name), layer);
        else symlinkSync(`../${known}`, join(path, name));
        files.set(layer, known ?? name);
        return name;
      });
      return { Config: `${digestOf(config)}.json`, RepoTags: [image], Layers: paths };
    });
    writeFileSync(join(path, 'manifest.json'), JSON.stringify(manifest));
    return path;
  }

  it('finds an image of the recipe that it was stored with', () => {
    store.take(archive({ 'a/b:1': ['base', 'top'] }), new Map([['a/b:1', 'r1']]));
    expect(store.find('a/b:1', 'r1')?.layers).toEqual([digestOf('base'), digestOf('top')]);
    expect(store.find('a/b:1', 'r2')).toBeUndefined();
    expect(store.find('a/b:2', 'r1')).toBeUndefined();
  });

  it('stores equal layers once', () => {
    store.take(archive({ 'a:1': ['base', 'base'], 'b:1': ['base'] }), new Map());
    expect(store.find('b:1', '')?.layers).toEqual([digestOf('base')]);
    expect(existsSync(store.blob(digestOf('base')))).toBe(true);
  });

  it('replaces the earlier version of a repository and removes its unused layers', () => {
    store.take(archive({ 'a:1': ['base', 'old'] }), new Map([['a:1', '1']]));
    store.take(archive({ 'a:2': ['base', 'new'] }), new Map([['a:2', '2']]));
    expect(store.find('a:1', '1')).toBeUndefined();
    expect(existsSync(store.blob(digestOf('old')))).toBe(false);
    expect(existsSync(store.blob(digestOf('base')))).toBe(true);
  });

  it('streams an archive that another store can take', async () => {
    store.take(archive({ 'a:1': ['base', 'top'] }), new Map([['a:1', '1']]));
    const image = store.find('a:1', '1');
    const target = join(folder, 'target');
    mkdirSync(target);
    await store.stream(image ? [image] : [], 'tar -x -C "$1"', [target], () => undefined);
    const other = new ImageStore(join(folder, 'other'));
    other.take(target, new Map([['a:1', '1']]));
    expect(other.find('a:1', '1')).toEqual(image);
    expect(await run('cat', [other.blob(digestOf('top'))])).toBe('top');
  });
});
