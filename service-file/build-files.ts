import { posix } from 'node:path';
import type { FileKind, RepositoryFiles } from './files.ts';
import type { Build } from './schema.ts';

export interface BuildFilesFault {
  /** The key of `build` that is not valid. */
  key: 'context' | 'dockerfile';
  message: string;
}

type Kinds = Pick<RepositoryFiles, 'kindOf'>;

/**
 * Returns why a context is not a folder, or a Dockerfile not a file; undefined if both are. Files in submodules are not
 * known here and are accepted.
 */
export function buildFilesFault(
  { context, dockerfile }: Pick<Build, 'context' | 'dockerfile'>,
  files: Kinds,
): BuildFilesFault | undefined {
  const folder = context === '.' ? '' : context;
  const kind = kindOf(folder, files);
  if (kind !== 'folder' && kind !== 'in submodule') {
    return { key: 'context', message: `${context} ${isNot(kind, 'folder')}` };
  }
  const path = posix.normalize(posix.join(context, dockerfile));
  const found = kindOf(path, files);
  if (found === 'file' || found === 'in submodule') return undefined;
  const message =
    found === undefined
      ? `there is no file ${path}: add it, name another with build.dockerfile, or run a ready image with \`image\``
      : `${path} ${isNot(found, 'file')}`;
  return { key: 'dockerfile', message };
}

/** Returns the kind of a path; a submodule itself is a folder. */
function kindOf(path: string, files: Kinds): FileKind | 'in submodule' | undefined {
  const kind = files.kindOf(path);
  if (kind !== undefined) return kind === 'submodule' ? 'folder' : kind;
  for (let above = posix.dirname(path); above !== '.'; above = posix.dirname(above)) {
    if (files.kindOf(above) === 'submodule') return 'in submodule';
  }
  return undefined;
}

function isNot(kind: FileKind | undefined, wanted: 'folder' | 'file'): string {
  if (kind === undefined) return `is not in the repository: add this ${wanted}, or correct the path`;
  return `is a ${kind === 'symlink' ? 'symbolic link' : kind}, not a ${wanted}: name a ${wanted}`;
}
