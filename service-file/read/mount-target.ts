import { posix } from 'node:path';
import type { SourcePosition, Problems } from '../problems.ts';
import { quoted } from '../problems.ts';
import type { Mount } from '../schema.ts';

/** A mount and its position in the file. */
export interface LocatedMount {
  mount: Mount;
  at: SourcePosition;
}

/** Paths that the container runtime manages. */
const kept = /^\/(proc|sys|dev)(\/|$)/;

/** Returns a normalized path in the container. */
export function readTarget(text: string, at: SourcePosition, problems: Problems): string | undefined {
  if (!text.startsWith('/')) {
    return problems.error(at, `the path ${quoted(text)} in the container is not absolute: start it with /`);
  }
  const target = posix.normalize(text).replace(/\/$/, '');
  if (target === '' || /[:\\\p{Cc}]/u.test(target) || target.length > 1024) {
    return problems.error(at, `nothing can be mounted at ${quoted(text)}: name a folder or file below /`);
  }
  if (kept.test(target) && target !== '/dev/shm') {
    return problems.error(
      at,
      `nothing can be mounted at ${quoted(text)}: the container runtime manages it. Choose another path`,
    );
  }
  return target;
}

/** Returns the mounts sorted by target; reports duplicate targets. */
export function checkTargets(mounts: readonly LocatedMount[], problems: Problems): Mount[] {
  const byTarget = new Map<string, Mount>();
  for (const { mount, at } of mounts) {
    if (byTarget.has(mount.target))
      problems.error(at, `something else is mounted at ${quoted(mount.target)} already: choose another path`);
    else byTarget.set(mount.target, mount);
  }
  return [...byTarget.values()].sort((a, b) => (a.target < b.target ? -1 : 1));
}
