import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { basename, join } from 'node:path';
import { z } from 'zod';
import { imageRecipes, importFiles } from './docker.ts';
import { CACHE_FOLDER } from '../../support/paths.ts';
import type { Detail, Progress } from '../../support/progress.ts';
import { run, tryRun } from '../../support/run.ts';
import { writeWhole } from '../../support/write-whole.ts';

const storedSchema = z.object({
  image: z.string(),
  recipe: z.string(),
  /** SHA-256 digests in hexadecimal, of the configuration and of the uncompressed layers, lowest first. */
  config: z.string(),
  layers: z.array(z.string()),
});

/** An image on disk, so that it need not be built or pulled again when Docker loses it. */
export type StoredImage = z.infer<typeof storedSchema>;

const manifestSchema = z.array(
  z.object({ Config: z.string(), RepoTags: z.array(z.string()).nullable(), Layers: z.array(z.string()) }),
);
const configSchema = z.looseObject({ rootfs: z.looseObject({ diff_ids: z.array(z.string()) }) });

const blobFolder = 'blobs/sha256';

/**
 * Stores images in a folder, one version of each repository. Layers are files named by their digest and
 * shared by images. They are not compressed, because that would slow down a registry on the same machine.
 */
export class ImageStore {
  readonly #folder: string;
  #last: Promise<void> = Promise.resolve();

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** Returns the image of this name; undefined if it is not stored, or has another recipe. */
  find(image: string, recipe: string): StoredImage | undefined {
    const stored = this.findCurrent(image);
    return stored?.recipe === recipe ? stored : undefined;
  }

  /** Returns the image of this name, whatever its recipe. */
  findCurrent(image: string): StoredImage | undefined {
    const file = this.#entryFile(image);
    if (!existsSync(file)) return undefined;
    const stored = storedSchema.parse(JSON.parse(readFileSync(file, 'utf8')));
    return stored.image === image ? stored : undefined;
  }

  /** Returns the path of a layer or configuration. */
  blob(digest: string): string {
    return join(this.#folder, blobFolder, digest);
  }

  /** Stores Docker's images whose current version is not stored yet. Calls run sequentially. */
  store(images: readonly string[], progress: Progress): Promise<void> {
    const stored = this.#last.then(() => this.#storeMissing(images, progress));
    this.#last = stored.catch(() => undefined);
    return stored;
  }

  async #storeMissing(images: readonly string[], progress: Progress): Promise<void> {
    const recipes = await imageRecipes(images);
    const missing = images.filter((image) => this.find(image, recipes.get(image) ?? '') === undefined);
    if (missing.length === 0) return;
    await progress.step(`store ${missing.join(', ')}`, async (detail) => {
      mkdirSync(join(this.#folder, blobFolder), { recursive: true });
      const scratch = mkdtempSync(join(this.#folder, 'new-'));
      try {
        const unpack = 'scratch=$1; shift; docker save "$@" | tar -x -C "$scratch"';
        await run('sh', ['-ec', unpack, 'sh', scratch, ...missing], { detail, deadline: 600 });
        this.take(scratch, recipes);
      } finally {
        rmSync(scratch, { recursive: true, force: true });
      }
    });
  }

  /** Imports the images of an unpacked `docker save` archive, and removes layers that no image uses any more. */
  take(archive: string, recipes: ReadonlyMap<string, string>): void {
    mkdirSync(join(this.#folder, blobFolder), { recursive: true });
    const manifest = manifestSchema.parse(JSON.parse(readFileSync(join(archive, 'manifest.json'), 'utf8')));
    for (const { Config, RepoTags, Layers } of manifest) {
      const text = readFileSync(join(archive, Config), 'utf8');
      const layers = configSchema.parse(JSON.parse(text)).rootfs.diff_ids.map(withoutAlgorithm);
      for (const [index, layer] of layers.entries()) {
        const path = Layers[index];
        if (path === undefined)
          throw new Error(`the archive has no layer ${layer} of ${RepoTags?.join(', ') ?? Config}`);
        // Equal layers are symbolic links to one file.
        if (!existsSync(this.blob(layer))) renameSync(realpathSync(join(archive, path)), this.blob(layer));
      }
      const config = basename(Config, '.json');
      writeWhole(this.blob(config), text);
      for (const image of RepoTags ?? []) {
        const stored: StoredImage = { image, recipe: recipes.get(image) ?? '', config, layers };
        writeWhole(this.#entryFile(image), JSON.stringify(stored));
      }
    }
    this.#removeUnusedBlobs();
  }

  /**
   * Streams stored images as an archive in the format of `docker save` to the standard input of a shell command; without
   * the layers if the command has them already.
   */
  async stream(
    images: readonly StoredImage[],
    command: string,
    args: readonly string[],
    detail: Detail,
    { withLayers = true } = {},
  ): Promise<void> {
    const scratch = mkdtempSync(join(this.#folder, 'archive-'));
    try {
      const path = (digest: string) => `${blobFolder}/${digest}`;
      const manifest = images.map(({ image, config, layers }) => ({
        Config: path(config),
        RepoTags: [image],
        Layers: layers.map(path),
      }));
      writeFileSync(join(scratch, 'manifest.json'), JSON.stringify(manifest));
      const blobs = images.flatMap(({ config, layers }) => [config, ...(withLayers ? layers : [])]);
      const files = [...new Set(blobs)].map(path);
      writeFileSync(join(scratch, 'files'), files.map((file) => `${file}\n`).join(''));
      const pack = 'scratch=$1 store=$2; shift 2; tar -c -C "$scratch" manifest.json -C "$store" -T "$scratch/files"';
      await run('sh', ['-ec', `${pack} | ${command}`, 'sh', scratch, this.#folder, ...args], { detail, deadline: 600 });
    } finally {
      rmSync(scratch, { recursive: true, force: true });
    }
  }

  #entryFile(image: string): string {
    const colon = image.lastIndexOf(':');
    return join(this.#folder, `${image.slice(0, colon).replaceAll('/', '_')}.json`);
  }

  #removeUnusedBlobs(): void {
    const entries = readdirSync(this.#folder).filter((name) => name.endsWith('.json'));
    const stored = entries.map((name) =>
      storedSchema.parse(JSON.parse(readFileSync(join(this.#folder, name), 'utf8'))),
    );
    const used = new Set(stored.flatMap(({ config, layers }) => [config, ...layers]));
    for (const digest of readdirSync(join(this.#folder, blobFolder))) {
      if (!used.has(digest)) rmSync(this.blob(digest));
    }
  }
}

const withoutAlgorithm = (digest: string): string => digest.replace(/^sha256:/, '');

/** The images for the cluster. */
export const imageStore = new ImageStore(join(CACHE_FOLDER, 'images'));

/** Loads stored images into Docker. */
export function loadIntoDocker(images: readonly StoredImage[], detail: Detail): Promise<void> {
  return imageStore.stream(images, 'docker load', [], detail);
}

/**
 * Loads a stored image with one layer into Docker. `docker load` would unpack the archive of layers to files first, and so
 * write everything twice; here it gets a layer that `docker import` has created. Throws where Docker keeps images in
 * containerd, which loads no archive without its layers.
 */
export async function importIntoDocker(stored: StoredImage, detail: Detail): Promise<void> {
  const [layer, ...others] = stored.layers;
  if (layer === undefined || others.length > 0) {
    throw new Error(`${stored.image} has ${stored.layers.length} layers, and not one`);
  }
  const files = `coppice-import:${layer}`;
  try {
    await importFiles(imageStore.blob(layer), files, stored.recipe, detail);
    await imageStore.stream([stored], 'docker load', [], detail, { withLayers: false });
  } finally {
    await tryRun('docker', ['rmi', files]);
  }
}
