import type { Problems } from '../problems.ts';
import { quoted, tooMany } from '../problems.ts';
import type { Volume } from '../schema.ts';
import type { YamlEntry, YamlNode } from '../yaml/yaml-node.ts';
import { volumeKeys } from './keys/top-level-keys.ts';
import { coppiceVolumeKeys } from './keys/x-coppice-keys.ts';
import { isHostLabel, labelsFor } from './names.ts';
import { emptyAsMap, type Fields, isEmpty, optional, readEntries, readFields, readName, readText } from './read.ts';
import { bytesQuantity, parseBytes } from './units.ts';

/** Including those for empty folders. */
export const MAX_VOLUMES = 50;

/**
 * Reads the top-level `volumes`, by their names in the file. Their names in the model are labels, which only Coppice
 * sees.
 */
export function readVolumes(node: YamlNode | undefined, problems: Problems): ReadonlyMap<string, Volume> {
  const entries = node === undefined ? [] : (readEntries(node, problems) ?? []);
  if (node !== undefined && entries.length > MAX_VOLUMES) problems.error(node, tooMany(MAX_VOLUMES, 'volumes'));
  const labels = labelsFor(entries.map(({ key }) => key));
  return new Map(
    entries.map((entry) => [entry.key, { name: labels.get(entry.key) ?? entry.key, ...readVolume(entry, problems) }]),
  );
}

function readVolume({ value }: YamlEntry, problems: Problems): Omit<Volume, 'name'> {
  const fields = readFields(emptyAsMap(value), volumeKeys, problems);
  if (fields === undefined) return {};
  const external = fields.get('external');
  if (external !== undefined && !isFalse(external.value)) {
    problems.warn(external.at, 'ignored: there is no volume outside of the environment; this one is empty at first');
  }
  checkDriver(fields, problems);
  return optional(fields, 'x-coppice', readExtension, problems) ?? {};
}

function isFalse(node: YamlNode): boolean {
  return isEmpty(node) || (node.kind === 'scalar' && (node.value === false || node.value === 'false'));
}

/** Refuses options of the local driver that mount something outside: a folder of the machine, or a server's share. */
function checkDriver(fields: Fields, problems: Problems): void {
  const driver = optional(fields, 'driver', readName, problems);
  const driverEntry = fields.get('driver');
  if (driverEntry !== undefined && driver !== undefined && driver !== 'local') {
    problems.warn(driverEntry.at, "ignored: the cluster's storage class decides on this; name one in x-coppice.class");
  }
  const options = fields.get('driver_opts');
  if (options?.value.kind !== 'map' || options.value.entries.length === 0) return;
  const device = options.value.entries.find(({ key, value }) => key === 'device' && !isTmpfs(value));
  if (device === undefined) problems.warn(options.at, "ignored: the cluster's storage class decides on this");
  else
    problems.error(
      device.at,
      'refused: a volume cannot be a folder of the machine or a share of a server: remove driver_opts',
    );
}

function isTmpfs(node: YamlNode): boolean {
  return node.kind === 'scalar' && (node.value === 'tmpfs' || node.value === 'none');
}

function readExtension(node: YamlNode, problems: Problems): Omit<Volume, 'name'> | undefined {
  const fields = readFields(node, coppiceVolumeKeys, problems);
  if (fields === undefined) return undefined;
  const size = optional(fields, 'size', readSize, problems);
  const storageClass = optional(fields, 'class', readClass, problems);
  return { ...(size !== undefined && { size }), ...(storageClass !== undefined && { storageClass }) };
}

/** Reads an amount of storage or memory; returns a quantity of Kubernetes. */
export function readSize(node: YamlNode, problems: Problems): string | undefined {
  const text = readText(node, problems);
  if (text === undefined) return undefined;
  const bytes = parseBytes(text);
  // The limit of 100 TiB catches mistakes.
  if (bytes !== undefined && bytes > 0 && bytes <= 100 * 2 ** 40) return bytesQuantity(bytes);
  return problems.error(node, `${quoted(text)} is not a size: write it like 512m or 10g`);
}

function readClass(node: YamlNode, problems: Problems): string | undefined {
  const text = readName(node, problems);
  if (text === undefined || text.split('.').every((label) => isHostLabel(label, 63))) return text;
  return problems.error(
    node,
    `${quoted(text)} is not a name of a storage class: use lower-case letters, digits, - and .`,
  );
}
