import type { Problems } from '../problems.ts';
import { quoted } from '../problems.ts';
import type { Service } from '../schema.ts';
import type { YamlEntry, YamlNode } from '../yaml/yaml-node.ts';
import { deployResourcesKeys, limitsKeys, reservationsKeys } from './keys/deploy-keys.ts';
import { type Fields, optional, readFields, readText } from './read.ts';
import { bytesQuantity, cpuQuantity, parseBytes, parseCpus } from './units.ts';

type Resources = Service['resources'];

const mib = 2 ** 20;

/**
 * Reads a service's limits and reservations from `deploy.resources`, and from `cpus`, `mem_limit` and
 * `mem_reservation`, which are equivalent. As in Docker, 0 means no limit.
 */
export function readResources(fields: Fields, deploy: Fields | undefined, problems: Problems): Resources {
  const resources =
    deploy && optional(deploy, 'resources', (node) => readFields(node, deployResourcesKeys, problems), problems);
  const limits = resources && optional(resources, 'limits', (node) => readFields(node, limitsKeys, problems), problems);
  const kept =
    resources && optional(resources, 'reservations', (node) => readFields(node, reservationsKeys, problems), problems);
  const limit = {
    cpu: readAmount([limits?.get('cpus'), fields.get('cpus')], readCpus, problems),
    memory: readAmount([limits?.get('memory'), fields.get('mem_limit')], readMemory, problems),
  };
  const request = {
    cpu: readAmount([kept?.get('cpus')], readCpus, problems),
    memory: readAmount([kept?.get('memory'), fields.get('mem_reservation')], readMemory, problems),
  };
  checkOrder(request.cpu, limit.cpu, problems);
  checkOrder(request.memory, limit.memory, problems);
  return { requests: quantities(request), limits: quantities(limit) };
}

interface Amount {
  value: number;
  at: YamlNode;
}

function quantities({ cpu, memory }: { cpu: Amount | undefined; memory: Amount | undefined }): Resources['limits'] {
  return {
    ...(cpu !== undefined && { cpu: cpuQuantity(cpu.value) }),
    ...(memory !== undefined && { memory: bytesQuantity(memory.value) }),
  };
}

/** Returns the amount of the first entry; reports a second one with another value. */
function readAmount(
  entries: readonly (YamlEntry | undefined)[],
  read: (node: YamlNode, problems: Problems) => number | undefined,
  problems: Problems,
): Amount | undefined {
  const [first, second] = entries.flatMap((entry) => {
    const value = entry === undefined ? undefined : read(entry.value, problems);
    return entry === undefined || value === undefined ? [] : [{ value, entry }];
  });
  if (first === undefined) return undefined;
  if (second !== undefined && second.value !== first.value) {
    problems.error(second.entry.at, `differs from ${first.entry.at.path}: remove one of them`);
  }
  return first.value === 0 ? undefined : { value: first.value, at: first.entry.value };
}

function checkOrder(request: Amount | undefined, limit: Amount | undefined, problems: Problems): void {
  if (request === undefined || limit === undefined || request.value <= limit.value) return;
  problems.error(request.at, 'the reservation exceeds the limit: lower this, or raise the limit');
}

/** Returns thousandths of a CPU. */
function readCpus(node: YamlNode, problems: Problems): number | undefined {
  // Numbers are accepted, because 0.50 is unambiguous.
  const isNumber = node.kind === 'scalar' && typeof node.value === 'number';
  const text = isNumber ? String(node.value) : readText(node, problems);
  if (text === undefined) return undefined;
  const thousandths = parseCpus(text);
  if (thousandths !== undefined && thousandths <= 1_000_000) return thousandths;
  return problems.error(node, `${quoted(text)} is not a number of processors: write it like 0.5`);
}

/** Returns bytes. */
function readMemory(node: YamlNode, problems: Problems): number | undefined {
  const text = readText(node, problems);
  if (text === undefined) return undefined;
  const bytes = parseBytes(text);
  if (bytes === undefined || bytes > 64 * 2 ** 40) {
    return problems.error(node, `${quoted(text)} is not an amount of memory: write it like 512m or 1.5g`);
  }
  if (bytes === 0 || bytes >= 6 * mib) return bytes;
  return problems.error(node, `${quoted(text)} is too little memory for any container: 6m is the least`);
}
