import { isIP } from 'node:net';
import type { SourcePosition, Problems } from '../problems.ts';
import { quoted } from '../problems.ts';
import type { Service } from '../schema.ts';
import type { YamlNode } from '../yaml/yaml-node.ts';
import { readListOrOne, readText, readTextList } from './read.ts';

type ExtraHosts = Service['extraHosts'];

/** Reads `extra_hosts`: a list of `host=ip` or `host:ip`, or a map. Sorted by address. */
export function readExtraHosts(node: YamlNode, problems: Problems): ExtraHosts | undefined {
  const hosts = new Map<string, Set<string>>();
  const add = (hostname: string, address: string, at: SourcePosition): void => {
    const ip = /^\[(.*)\]$/.exec(address)?.[1] ?? address;
    if (ip === 'host-gateway') {
      problems.warn(at, 'ignored: there is no Docker host to connect to');
    } else if (isIP(ip) === 0) {
      problems.error(at, `${quoted(address)} is not an address of a host: write it like "db.example.com=10.0.0.1"`);
    } else if (hostname.length > 253 || !/^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$/.test(hostname)) {
      problems.error(at, `${quoted(hostname)} is not a host name: use lower-case letters, digits, - and .`);
    } else {
      hosts.set(ip, (hosts.get(ip) ?? new Set()).add(hostname));
    }
  };
  if (node.kind === 'map') {
    for (const { key, at, value } of node.entries) {
      const addresses = value.kind === 'list' ? readTextList(value, problems) : [readText(value, problems) ?? ''];
      for (const address of addresses ?? []) add(key, address, at);
    }
  } else {
    for (const item of readListOrOne(node, problems) ?? []) {
      const text = readText(item, problems);
      if (text === undefined) continue;
      const [, hostname = text, address = ''] = /^([^=:]*)[=:](.*)$/.exec(text) ?? [];
      add(hostname.trim().toLowerCase(), address.trim(), item);
    }
  }
  return [...hosts].map(([ip, names]) => ({ ip, hostnames: [...names].sort() })).sort((a, b) => (a.ip < b.ip ? -1 : 1));
}
