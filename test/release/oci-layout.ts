import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { run } from '../support/run.ts';

const descriptorSchema = z.looseObject({
  mediaType: z.string(),
  digest: z.string(),
  size: z.int(),
  platform: z.looseObject({ os: z.string(), architecture: z.string() }).optional(),
});
export type Descriptor = z.infer<typeof descriptorSchema>;

const contentSchema = z.looseObject({
  manifests: z.array(descriptorSchema).default([]),
  layers: z.array(descriptorSchema).default([]),
});

/** Returns the file of a blob in a folder of the OCI Image Layout. */
export const blobFile = (folder: string, digest: string): string => join(folder, 'blobs', digest.replace(':', '/'));

const contentOf = (file: string) => contentSchema.parse(JSON.parse(readFileSync(file, 'utf8')));

/** Returns the only image or image index of a layout. */
export function imageIn(folder: string): Descriptor {
  const { manifests } = contentOf(join(folder, 'index.json'));
  const [image] = manifests;
  if (!image || manifests.length > 1) throw new Error(`${folder} contains ${manifests.length} images instead of one`);
  return image;
}

/** Returns the manifest of each platform of an image, by names such as linux/amd64. */
export function platformsOf(folder: string, image: Descriptor): Map<string, Descriptor> {
  const { manifests } = contentOf(blobFile(folder, image.digest));
  const all = manifests.length > 0 ? manifests : [image];
  return new Map(
    all.map((one) => [one.platform ? `${one.platform.os}/${one.platform.architecture}` : 'linux/amd64', one]),
  );
}

/** Returns the content of a file in an image; undefined if no layer has it. tar recognizes compressed layers. */
export async function fileIn(folder: string, manifest: Descriptor, path: string): Promise<string | undefined> {
  const { layers } = contentOf(blobFile(folder, manifest.digest));
  for (const { digest } of layers.toReversed()) {
    const file = blobFile(folder, digest);
    const names = await run('tar', ['--list', '--file', file], { deadline: 300 });
    if (names.split('\n').includes(path)) {
      return run('tar', ['--extract', '--to-stdout', '--file', file, path], { deadline: 300 });
    }
  }
  return undefined;
}
