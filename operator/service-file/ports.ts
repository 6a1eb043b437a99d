import type { Problems } from './problems.ts';
import { quoted } from './problems.ts';
import { portKeys } from './keys.ts';
import { readFields, readInteger, readList, readText } from './read.ts';
import type { YamlNode } from './yaml-node.ts';

export const PORT_RANGE = { min: 1, max: 65_535 };

/** [[address:]published:]target[/protocol], the address an IPv4 one, or an IPv6 one in brackets. */
const SHORT = /^(?:(?:(?:\[[0-9A-Fa-f:.]+\]|[\d.]+):)?(?<published>[\d-]*):)?(?<target>[\d-]+)(?:\/(?<protocol>\w+))?$/;

/**
 * The container's TCP ports that `ports` publishes, in the order of the file. The published port and address mean
 * nothing here, an environment has its own web address; they are only checked for their form.
 */
export function readPorts(node: YamlNode, problems: Problems): number[] | undefined {
  return readList(node, problems)?.flatMap(
    (item) => (item.kind === 'map' ? readLong(item, problems) : readShort(item, SHORT, problems)) ?? [],
  );
}

/** The container's TCP ports that `expose` names. */
export function readExpose(node: YamlNode, problems: Problems): number[] | undefined {
  const form = /^(?<target>[\d-]+)(?:\/(?<protocol>\w+))?$/;
  return readList(node, problems)?.flatMap((item) => readShort(item, form, problems) ?? []);
}

function readShort(node: YamlNode, form: RegExp, problems: Problems): number | undefined {
  const text = readText(node, problems);
  if (text === undefined) return undefined;
  const groups = form.exec(text)?.groups;
  if (groups === undefined) {
    return problems.error(node, `${quoted(text)} is no port: write the container's port, or "published:container"`);
  }
  const { target = '', published = '', protocol = 'tcp' } = groups;
  if (target.includes('-') || published.includes('-')) {
    return problems.error(node, 'ranges of ports are not supported yet: list each port');
  }
  if (!isTcp(protocol, node, problems)) return undefined;
  for (const number of published === '' ? [target] : [target, published]) {
    if (!isPort(Number(number))) return problems.error(node, `${quoted(number)} is no port: they go from 1 to 65535`);
  }
  return Number(target);
}

function readLong(node: YamlNode, problems: Problems): number | undefined {
  const fields = readFields(node, portKeys, problems);
  if (fields === undefined) return undefined;
  const published = fields.get('published')?.value;
  if (published !== undefined) readInteger(published, PORT_RANGE, problems);
  const hostAddress = fields.get('host_ip')?.value;
  if (hostAddress !== undefined) readText(hostAddress, problems);
  const protocol = fields.get('protocol')?.value;
  if (protocol !== undefined && !isTcp(readText(protocol, problems) ?? 'tcp', protocol, problems)) return undefined;
  const target = fields.get('target')?.value;
  if (target === undefined) return problems.error(node, 'has no target: name the port of the container');
  return readInteger(target, PORT_RANGE, problems);
}

function isTcp(protocol: string, node: YamlNode, problems: Problems): boolean {
  if (protocol.toLowerCase() === 'tcp') return true;
  problems.error(node, `the protocol ${quoted(protocol)} is not supported yet, only tcp is`);
  return false;
}

function isPort(port: number): boolean {
  return port >= PORT_RANGE.min && port <= PORT_RANGE.max;
}
