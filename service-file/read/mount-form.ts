import type { Problems } from '../problems.ts';
import { quoted } from '../problems.ts';
import type { YamlNode } from '../yaml/yaml-node.ts';
import { bindKeys, mountKeys, tmpfsKeys, volumeOptionKeys } from './keys/mount-keys.ts';
import { type Fields, optional, readBoolean, readFields, readName, readText } from './read.ts';
import { readSize } from './volumes.ts';

const types = ['volume', 'bind', 'tmpfs'] as const;

/** One item of `volumes` in the file. A volume without a source is anonymous. */
export interface MountForm {
  type: (typeof types)[number];
  source: string | undefined;
  target: string;
  readOnly: boolean;
  /** Whether `rw` or `read_only: false` is explicit. */
  writable: boolean;
  subPath?: string;
  size?: string;
  /** False if a bind mount's source must exist. */
  create: boolean;
}

/** Reads `[SOURCE:]TARGET[:OPTION,…]`. */
export function readShortMount(node: YamlNode, problems: Problems): MountForm | undefined {
  const text = readName(node, problems);
  if (text === undefined) return undefined;
  if (/^[A-Za-z]:(\\|\/[^:]*:)/.test(text)) {
    return problems.error(
      node,
      `refused: ${quoted(text)} is a path of a Windows machine, whose files are not available here: name a file of the repository (./…) or a volume`,
    );
  }
  const parts = text.split(':');
  if (parts.length > 3 || parts.includes('')) {
    return problems.error(node, `${quoted(text)} is not a mount: write it like data:/var/lib/data:ro`);
  }
  const [source, target = source ?? '', options = ''] = parts;
  const form = {
    type: parts.length > 1 && isPath(source) ? ('bind' as const) : ('volume' as const),
    source: parts.length > 1 ? source : undefined,
    target,
    create: true,
  };
  return { ...form, ...readOptions(options, node, problems) };
}

function isPath(source: string | undefined): boolean {
  return source !== undefined && /^[./~]/.test(source);
}

const withoutEffect =
  /^(z|Z|cached|delegated|consistent|nocopy|volume-nocopy|(bind-)?(r?shared|r?slave|r?private|nonrecursive))$/;

function readOptions(text: string, node: YamlNode, problems: Problems): Pick<MountForm, 'readOnly' | 'writable'> {
  const options = new Set(text.split(',').filter((option) => option !== ''));
  const readOnly = options.delete('ro') || options.delete('readonly');
  const writable = options.delete('rw');
  for (const option of options) {
    if (withoutEffect.test(option))
      problems.warn(node, `the option ${quoted(option)} is ignored: it has no effect here`);
    else problems.error(node, `${quoted(option)} is not an option of a mount: use ro or rw`);
  }
  return { readOnly, writable };
}

export function readLongMount(node: YamlNode, problems: Problems): MountForm | undefined {
  const fields = readFields(node, mountKeys, problems);
  if (fields === undefined) return undefined;
  const typeNode = fields.get('type')?.value;
  if (typeNode === undefined) return problems.error(node, 'has no type: write volume, bind or tmpfs');
  const typeName = readName(typeNode, problems);
  const source = optional(fields, 'source', readName, problems);
  const target = optional(fields, 'target', readName, problems);
  const readOnly = optional(fields, 'read_only', readBoolean, problems);
  const details = readDetails(fields, problems);
  if (typeName === undefined) return undefined;
  const type = types.find((name) => name === typeName);
  if (type === undefined) {
    return problems.error(typeNode, `refused: ${quoted(typeName)} cannot be mounted: ${types.join(', ')} can`);
  }
  if (target === undefined) return problems.error(node, 'has no target: name the path in the container');
  if (type === 'bind' && source === undefined) {
    return problems.error(node, 'has no source: name a file or folder of the repository');
  }
  const form = { type, source: type === 'tmpfs' ? undefined : source, target };
  return { ...form, readOnly: readOnly ?? false, writable: readOnly === false, ...details };
}

function readDetails(fields: Fields, problems: Problems): Pick<MountForm, 'subPath' | 'size' | 'create'> {
  const bind = optional(fields, 'bind', (node) => readFields(node, bindKeys, problems), problems);
  const volume = optional(fields, 'volume', (node) => readFields(node, volumeOptionKeys, problems), problems);
  const tmpfs = optional(fields, 'tmpfs', (node) => readFields(node, tmpfsKeys, problems), problems);
  const create = bind && optional(bind, 'create_host_path', readBoolean, problems);
  const subPath = volume && optional(volume, 'subpath', readSubPath, problems);
  const size = tmpfs && optional(tmpfs, 'size', readSize, problems);
  return { create: create ?? true, ...(subPath !== undefined && { subPath }), ...(size !== undefined && { size }) };
}

function readSubPath(node: YamlNode, problems: Problems): string | undefined {
  const text = readText(node, problems);
  if (text === undefined || text === '') return undefined;
  const steps = text.replace(/\/$/, '').split('/');
  const good = steps.every((step) => step !== '' && step !== '.' && step !== '..' && !/[\\\p{Cc}]/u.test(step));
  return good ? steps.join('/') : problems.error(node, `${quoted(text)} is not a folder of a volume: write it as a/b`);
}
