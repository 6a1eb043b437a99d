import type { ResourceId } from './ids.ts';

/** The registry of built images, and how they are named there. */
export interface ImageRegistry {
  /** `host[:port][/path]` */
  address: string;
  /** `nested`: GROUP/REPOSITORY/SERVICE; `flat`: GROUP.REPOSITORY.SERVICE, for registries without nested paths. */
  layout: 'nested' | 'flat';
}

const separators = { nested: '/', flat: '.' } as const;

/**
 * Returns the prefix of the names of a repository's images, and of no other's: names have neither separator. Images of
 * forks' pull requests have a separate prefix.
 */
export function imagePrefix({ address, layout }: ImageRegistry, repository: ResourceId, trusted = true): string {
  const parts = [repository.group, repository.name, ...(trusted ? [] : ['untrusted']), ''];
  return `${address}/${parts.join(separators[layout])}`;
}

/** Returns the path of a service's images in the registry, unique for each repository. */
export function imageRepository(
  registry: ImageRegistry,
  repository: ResourceId,
  service: string,
  trusted = true,
): string {
  return `${imagePrefix(registry, repository, trusted)}${service}`;
}

/** Returns the group of an image by its path below the registry's address; undefined for other images. */
export function groupOfImage({ layout }: Pick<ImageRegistry, 'layout'>, path: string): string | undefined {
  const parts = path.split(separators[layout]);
  return parts.length === 3 || parts.length === 4 ? parts[0] : undefined;
}
