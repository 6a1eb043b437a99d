import { textOf, type YamlEntry, type YamlMap, type YamlNode } from '../yaml/yaml-node.ts';

/**
 * Returns a path's shape, in which `*` replaces names that authors choose: `services.web.environment` becomes
 * `services.*.environment`.
 */
export function shapeOf(path: readonly string[]): string {
  const named = new Set(['networks', 'models', 'ulimits']);
  return path.map((key, index) => (index === 1 || (index === 3 && named.has(path[2] ?? '')) ? '*' : key)).join('.');
}

const inServices = (...keys: string[]) => keys.map((key) => `services.*.${key}`);

/** Shapes of lists of `NAME=value` that can also be maps. */
const variables: ReadonlySet<string> = new Set([
  ...inServices('annotations', 'environment', 'labels', 'sysctls', 'deploy.labels'),
  ...inServices('build.args', 'build.labels', 'build.additional_contexts'),
  ...['networks', 'volumes', 'secrets', 'configs'].map((resource) => `${resource}.*.labels`),
]);

const replaced: ReadonlySet<string> = new Set(inServices('command', 'entrypoint', 'healthcheck.test', 'ulimits.*'));

/** Returns whether the last file's value replaces earlier ones completely, as for commands. */
export function isReplaced(path: readonly string[]): boolean {
  return replaced.has(shapeOf(path)) || variables.has(shapeOf(path.slice(0, -1)));
}

/** Shapes of lists of names that can also be maps by name. */
const names: ReadonlySet<string> = new Set(inServices('networks', 'models', 'depends_on'));

/** Shapes of lists that can also be written as their only item. */
const lists: ReadonlySet<string> = new Set(inServices('dns', 'dns_search', 'env_file', 'label_file', 'tmpfs'));

/** Shapes of lists of `host=address` that can also be maps of one or several addresses. */
const hosts: ReadonlySet<string> = new Set(inServices('extra_hosts', 'build.extra_hosts'));

/** Converts a value that has several forms to the one that can be merged. */
export function mergeable(node: YamlNode, shape: string): YamlNode {
  if (node.kind === 'list' && variables.has(shape)) return mapOf(node, node.items.flatMap(variableOf));
  if (node.kind === 'list' && names.has(shape)) {
    const value = (item: YamlNode) => (shape.endsWith('depends_on') ? started(item) : nothing(item));
    return mapOf(
      node,
      node.items.map((item) => ({ key: textOf(item) ?? '', at: item, value: value(item) })),
    );
  }
  if (node.kind === 'scalar' && node.value !== null && lists.has(shape))
    return { ...node, kind: 'list', items: [node] };
  if (node.kind === 'map' && hosts.has(shape)) return { ...node, kind: 'list', items: node.entries.flatMap(hostsOf) };
  if (node.kind === 'scalar' && node.value !== null && shape === 'services.*.build') {
    return mapOf(node, [{ key: 'context', at: node, value: node }]);
  }
  return node;
}

/** Returns a map of the entries by name; the last entry of a name takes precedence. */
function mapOf(node: YamlNode, entries: readonly YamlEntry[]): YamlMap {
  const byKey = new Map(entries.map((entry) => [entry.key, entry]));
  return { ...node, kind: 'map', entries: [...byKey.values()] };
}

function variableOf(item: YamlNode): YamlEntry[] {
  const text = textOf(item);
  if (text === undefined) return [];
  const equals = text.indexOf('=');
  if (equals === -1) return [{ key: text, at: item, value: nothing(item) }];
  return [{ key: text.slice(0, equals), at: item, value: textAt(item, text.slice(equals + 1)) }];
}

function hostsOf({ key, value }: YamlEntry): YamlNode[] {
  const addresses = value.kind === 'list' ? value.items : [value];
  return addresses.flatMap((address) => {
    const text = textOf(address);
    return text === undefined ? [] : [textAt(address, `${key}=${text}`)];
  });
}

function started(item: YamlNode): YamlNode {
  return mapOf(item, [{ key: 'condition', at: item, value: textAt(item, 'service_started') }]);
}

function textAt(at: YamlNode, text: string): YamlNode {
  return { ...at, kind: 'scalar', value: text, source: text };
}

function nothing(at: YamlNode): YamlNode {
  return { ...at, kind: 'scalar', value: null, source: '' };
}
