import type { Problems } from '../problems.ts';
import { quoted } from '../problems.ts';
import type { Mount } from '../schema.ts';
import type { YamlNode } from '../yaml/yaml-node.ts';
import { mountFromRepository } from './bind-mounts.ts';
import type { FileScope } from './file-scope.ts';
import { type MountForm, readLongMount, readShortMount } from './mount-form.ts';
import { type LocatedMount, readTarget } from './mount-target.ts';
import { nearest } from './nearest.ts';
import { type Fields, optional, readList, readListOrOne, readText } from './read.ts';
import { readSize } from './volumes.ts';
import { bytesQuantity, parseBytes } from './units.ts';

/** Reads a service's `volumes`. `context`: of its build, from the repository's root; undefined without a build. */
export async function readMounts(
  fields: Fields,
  context: string | undefined,
  scope: FileScope,
): Promise<LocatedMount[]> {
  const mounts: LocatedMount[] = [];
  for (const node of optional(fields, 'volumes', readList, scope.problems) ?? []) {
    const form = node.kind === 'map' ? readLongMount(node, scope.problems) : readShortMount(node, scope.problems);
    const target = form === undefined ? undefined : readTarget(form.target, node, scope.problems);
    if (form === undefined || target === undefined) continue;
    const mount = await readMount({ ...form, target }, node, context, scope);
    if (mount !== undefined) mounts.push({ at: node, mount });
  }
  return mounts;
}

function readMount(
  form: MountForm,
  node: YamlNode,
  context: string | undefined,
  scope: FileScope,
): Promise<Mount | undefined> | Mount | undefined {
  const { type, source, target, readOnly, subPath, size } = form;
  if (type === 'tmpfs') return { type: 'empty', target, memory: true, ...(size !== undefined && { size }) };
  if (source === undefined) return { type: 'empty', target, memory: false };
  if (type === 'bind') return mountFromRepository({ ...form, source }, node, context, scope);
  const volume = scope.volumes.get(source);
  if (volume !== undefined) {
    return { type: 'volume', volume: volume.name, target, readOnly, ...(subPath !== undefined && { subPath }) };
  }
  const meant = nearest(source, scope.volumes.keys(), scope.problems);
  const hint =
    meant === undefined
      ? "add it to the top level's volumes, or write ./ before a path"
      : `did you mean ${quoted(meant)}?`;
  return scope.problems.error(node, `the volume ${quoted(source)} is not declared: ${hint}`);
}

/** Reads `tmpfs`, one or a list: `/run` or `/run:size=64m`. */
export function readTmpfs(fields: Fields, problems: Problems): LocatedMount[] {
  return (optional(fields, 'tmpfs', readListOrOne, problems) ?? []).flatMap((node) => {
    const text = readText(node, problems);
    if (text === undefined) return [];
    const [path = '', options = ''] = text.split(':', 2);
    const target = readTarget(path, node, problems);
    const size = readTmpfsSize(options, node, problems);
    if (target === undefined) return [];
    return [{ at: node, mount: { type: 'empty' as const, target, memory: true, ...(size !== undefined && { size }) } }];
  });
}

/** Reads the size in `size=64m,mode=1777,…`; other options have no effect. */
function readTmpfsSize(options: string, node: YamlNode, problems: Problems): string | undefined {
  let size: string | undefined;
  for (const option of options.split(',').filter((each) => each !== '')) {
    const [name = '', value = ''] = option.split('=', 2);
    const bytes = name === 'size' ? parseBytes(value) : undefined;
    if (bytes !== undefined && bytes > 0) size = bytesQuantity(bytes);
    else if (name === 'size') problems.error(node, `${quoted(value)} is not a size: write it like size=64m`);
    else
      problems.warn(node, `the option ${quoted(name)} is ignored: every user in the container can use the files there`);
  }
  return size;
}

/** Reads `shm_size`, the memory at /dev/shm. */
export function readSharedMemory(fields: Fields, problems: Problems): LocatedMount[] {
  const size = optional(fields, 'shm_size', readSize, problems);
  const entry = fields.get('shm_size');
  if (size === undefined || entry === undefined) return [];
  return [{ at: entry.at, mount: { type: 'empty', target: '/dev/shm', memory: true, size } }];
}
