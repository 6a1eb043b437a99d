import type { Problems } from '../problems.ts';
import { quoted } from '../problems.ts';
import type { YamlNode } from '../yaml/yaml-node.ts';
import { portKeys } from './keys/service-keys.ts';
import { optional, readFields, readInteger, readList, readText } from './read.ts';

export const PORT_RANGE = { min: 1, max: 65_535 };
/** Limit for one service: each is a port of a Kubernetes Service. */
const maxPorts = 100;

export interface Port {
  number: number;
  protocol: 'tcp' | 'udp';
}

/** Matches [[address:]published:]target[/protocol], with an IPv4 address or an IPv6 address in brackets. */
const short =
  /^(?:(?:(?:\[[0-9A-Fa-f:.]+\]|[\d.]+):)?(?<published>[\d-]*):)?(?<target>\d+(?:-\d+)?)(?:\/(?<protocol>\w+))?$/;
const exposed = /^(?<target>\d+(?:-\d+)?)(?:\/(?<protocol>\w+))?$/;

/**
 * Reads the container's ports in `ports`, in the order of the file. The published port and address have no effect,
 * because an environment has its own web address; only their format is checked.
 */
export function readPorts(node: YamlNode, problems: Problems): Port[] | undefined {
  const ports = readList(node, problems)?.flatMap(
    (item) => (item.kind === 'map' ? readLong(item, problems) : readShort(item, short, problems)) ?? [],
  );
  return checkCount(ports, node, problems);
}

/** Reads the container's ports in `expose`. */
export function readExpose(node: YamlNode, problems: Problems): Port[] | undefined {
  const ports = readList(node, problems)?.flatMap((item) => readShort(item, exposed, problems) ?? []);
  return checkCount(ports, node, problems);
}

/** Returns the ports of a protocol, sorted and unique. */
export function portNumbers(ports: readonly Port[], protocol: Port['protocol']): number[] {
  const numbers = ports.filter((port) => port.protocol === protocol).map(({ number }) => number);
  return [...new Set(numbers)].sort((a, b) => a - b);
}

function checkCount(ports: Port[] | undefined, node: YamlNode, problems: Problems): Port[] | undefined {
  if (ports === undefined || ports.length <= maxPorts) return ports;
  return problems.error(node, `more than ${maxPorts} ports: name those that are needed`);
}

function readShort(node: YamlNode, form: RegExp, problems: Problems): Port[] | undefined {
  const text = readText(node, problems);
  if (text === undefined) return undefined;
  const groups = form.exec(text)?.groups;
  if (groups === undefined) {
    return problems.error(node, `${quoted(text)} is not a port: write the container's port, or "published:container"`);
  }
  const { target = '', published = '', protocol: name = 'tcp' } = groups;
  const protocol = readProtocol(name, node, problems);
  for (const range of published === '' ? [target] : [target, published]) {
    if (expand(range) === undefined) {
      return problems.error(node, `${quoted(range)} is not a port: use 1 to 65535, and ranges from low to high`);
    }
  }
  return protocol === undefined ? undefined : expand(target)?.map((number) => ({ number, protocol }));
}

/** Expands `8000-8002` to 8000, 8001, 8002. Stops beyond the limit, which checkCount reports. */
function expand(range: string): number[] | undefined {
  const [, first = '', last = first] = /^(\d+)(?:-(\d+))?$/.exec(range) ?? [];
  const [from, to] = [Number(first), Number(last)];
  if (!(from >= PORT_RANGE.min && from <= to && to <= PORT_RANGE.max)) return undefined;
  return Array.from({ length: Math.min(to - from, maxPorts) + 1 }, (_, index) => from + index);
}

function readLong(node: YamlNode, problems: Problems): Port[] | undefined {
  const fields = readFields(node, portKeys, problems);
  if (fields === undefined) return undefined;
  optional(fields, 'host_ip', readText, problems);
  const published = fields.get('published')?.value;
  const text = optional(fields, 'published', readText, problems);
  if (published !== undefined && text !== undefined && text !== '' && expand(text) === undefined) {
    problems.error(published, `${quoted(text)} is not a port, nor a range of ports: write it like 8080 or 8080-8083`);
  }
  const protocolNode = fields.get('protocol')?.value ?? node;
  const protocol = readProtocol(optional(fields, 'protocol', readText, problems) ?? 'tcp', protocolNode, problems);
  const target = fields.get('target')?.value;
  if (target === undefined) return problems.error(node, 'has no target: name the port of the container');
  const number = readInteger(target, PORT_RANGE, problems);
  return number === undefined || protocol === undefined ? undefined : [{ number, protocol }];
}

function readProtocol(name: string, node: YamlNode, problems: Problems): Port['protocol'] | undefined {
  const protocol = name.toLowerCase();
  if (protocol === 'tcp' || protocol === 'udp') return protocol;
  return problems.error(node, `the protocol ${quoted(name)} is not supported: use tcp or udp`);
}
