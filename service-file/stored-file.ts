import type { FileBundle } from './schema.ts';

/** Where the content of a mounted file is stored: an object in the environment's namespace, and a key of it. */
export interface FileLocation {
  object: string;
  key: string;
}

/** Returns where a bundle's file is stored. Older Coppices stored each bundle as one object of its name. */
export function storedAt(
  { name }: Pick<FileBundle, 'name'>,
  { key, stored }: FileBundle['files'][number],
): FileLocation {
  return stored ?? { object: name, key };
}
