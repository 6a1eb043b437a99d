import type { SourcePosition, Problems } from '../problems.ts';
import { quoted, tooMany } from '../problems.ts';
import type { YamlNode } from '../yaml/yaml-node.ts';
import { serviceNetworkKeys } from './keys/service-keys.ts';
import { networkKeys } from './keys/top-level-keys.ts';
import { isHostLabel, labelsFor } from './names.ts';
import { nearest } from './nearest.ts';
import {
  emptyAsMap,
  type Fields,
  isEmpty,
  optional,
  readEntries,
  readFields,
  readList,
  readName,
  readTextList,
} from './read.ts';

/** Network of services that name none. */
const defaultNetwork = 'default';
/** Limit, because each network is a NetworkPolicy. */
export const MAX_NETWORKS = 20;

/** Reads the top-level `networks`; returns their names in the model. */
export function readNetworks(node: YamlNode | undefined, problems: Problems): ReadonlyMap<string, string> {
  const entries = node === undefined ? [] : (readEntries(node, problems) ?? []);
  if (node !== undefined && entries.length > MAX_NETWORKS) problems.error(node, tooMany(MAX_NETWORKS, 'networks'));
  for (const { value } of entries) {
    const fields = readFields(emptyAsMap(value), networkKeys, problems);
    if (fields !== undefined) checkNetwork(fields, problems);
  }
  return labelsFor([...new Set([defaultNetwork, ...entries.map(({ key }) => key)])]);
}

function checkNetwork(fields: Fields, problems: Problems): void {
  const external = fields.get('external');
  const isExternal = external !== undefined && !(external.value.kind === 'scalar' && external.value.value === false);
  if (isExternal && !isEmpty(external.value)) {
    problems.warn(external.at, 'ignored: each environment has networks of its own');
  }
  const driver = optional(fields, 'driver', readName, problems);
  const entry = fields.get('driver');
  if (entry === undefined || driver === undefined || driver === 'bridge' || driver === 'overlay') return;
  if (driver === 'host')
    problems.error(entry.value, "refused: the machine's own network is not available: remove the driver");
  else problems.warn(entry.at, "ignored: the cluster's network is used");
}

export interface ServiceNetworks {
  /** Names in the model, sorted. */
  networks: string[];
  aliases: { name: string; at: SourcePosition }[];
}

/** Reads a service's `networks` and `network_mode`. */
export function readServiceNetworks(
  fields: Fields,
  declared: ReadonlyMap<string, string>,
  problems: Problems,
): ServiceNetworks {
  const modeEntry = fields.get('network_mode');
  const entry = fields.get('networks');
  const isolated = modeEntry === undefined ? undefined : readMode(modeEntry.value, problems);
  if (modeEntry !== undefined && entry !== undefined) {
    problems.error(modeEntry.at, 'conflicts with networks: remove one of them');
  }
  if (isolated === true) return { networks: [], aliases: [] };
  const found = entry === undefined || isEmpty(entry.value) ? undefined : readJoined(entry.value, declared, problems);
  if (found === undefined || found.networks.length === 0)
    return { networks: [defaultNetwork], aliases: found?.aliases ?? [] };
  return { ...found, networks: found.networks.sort() };
}

/** Returns true for `none`, no network at all. */
function readMode(node: YamlNode, problems: Problems): boolean | undefined {
  const mode = readName(node, problems);
  if (mode === undefined || mode === 'bridge' || mode === 'default') return false;
  if (mode === 'none') return true;
  return problems.error(
    node,
    mode === 'host'
      ? "refused: containers get no access to the node's network: list the service's ports"
      : `refused: ${quoted(mode)} cannot be shared, because each service runs in its own pod: connect to the other one by its name`,
  );
}

function readJoined(node: YamlNode, declared: ReadonlyMap<string, string>, problems: Problems): ServiceNetworks {
  const joined: ServiceNetworks = { networks: [], aliases: [] };
  const join = (name: string, at: SourcePosition): void => {
    const network = declared.get(name);
    if (network !== undefined) {
      joined.networks.push(network);
      return;
    }
    const meant = nearest(name, declared.keys(), problems);
    const hint = meant === undefined ? "add it to the top level's networks" : `did you mean ${quoted(meant)}?`;
    problems.error(at, `the network ${quoted(name)} is not declared: ${hint}`);
  };
  if (node.kind === 'map') {
    for (const { key, at, value } of node.entries) {
      join(key, at);
      const fields = readFields(emptyAsMap(value), serviceNetworkKeys, problems);
      const entry = fields?.get('aliases');
      if (entry === undefined) continue;
      for (const name of readTextList(entry.value, problems) ?? [])
        addAlias(name, entry.value, joined.aliases, problems);
    }
  } else {
    for (const item of readList(node, problems) ?? []) {
      const name = readName(item, problems);
      if (name !== undefined) join(name, item);
    }
  }
  return { ...joined, networks: [...new Set(joined.networks)] };
}

/** Adds an alias; one that is not a valid host name is skipped with a warning. */
export function addAlias(
  name: string,
  at: SourcePosition,
  aliases: ServiceNetworks['aliases'],
  problems: Problems,
): void {
  const label = name.toLowerCase();
  if (isHostLabel(label, 63)) aliases.push({ name: label, at });
  else problems.warn(at, `the alias ${quoted(name)} is ignored: use lower-case letters, digits and -, a letter first`);
}

/**
 * Reads `links`: services, optionally with an alias (`db:database`). The service depends on them, and can use the
 * alias.
 */
export function readLinks(
  fields: Fields,
  problems: Problems,
): { service: string; alias: string | undefined; at: SourcePosition }[] {
  return (optional(fields, 'links', readList, problems) ?? []).flatMap((node) => {
    const text = readName(node, problems);
    if (text === undefined) return [];
    const [service = '', alias] = text.split(':', 2);
    return [{ service, alias: alias === service ? undefined : alias, at: node }];
  });
}
