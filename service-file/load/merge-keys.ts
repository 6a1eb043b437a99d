import { textOf, valueAt, type YamlNode } from '../yaml/yaml-node.ts';

/**
 * Returns the key by which an item of a list replaces one of another file; undefined for an item that is always
 * appended.
 */
export type KeyOf = (item: YamlNode) => string | undefined;

/** `A=1` and `A=2` have the same key. */
const byName: KeyOf = (item) => textOf(item)?.split('=', 1)[0];

const byText: KeyOf = (item) => textOf(item);

const byPath: KeyOf = (item) => textOf(item.kind === 'map' ? valueAt(item, 'path') : item);

/** The key of volumes and devices is their path in the container. */
const byTarget: KeyOf = (item) => {
  if (item.kind === 'map') return textOf(valueAt(item, 'target'));
  const [source, target] = textOf(item)?.split(':') ?? [];
  return target ?? source;
};

const byMountedAt =
  (folder: string): KeyOf =>
  (item) => {
    const name = textOf(item) ?? textOf(valueAt(item, 'target')) ?? textOf(valueAt(item, 'source'));
    return name?.startsWith('/') === false ? `${folder}${name}` : name;
  };

/** Matches [ip:][published:]target[/protocol]. */
const shortPort = /^(?:(?:(.+):)?([^:]*):)?([^:/]+)(?:\/(\w+))?$/;

/** Both forms of a port have the same key: {ip, target, published, protocol}. */
const byPort: KeyOf = (item) => {
  const short = shortPort.exec(textOf(item) ?? '') ?? undefined;
  const long = (key: string) => textOf(valueAt(item, key));
  const [ip, published, target, protocol] =
    item.kind === 'map'
      ? [long('host_ip'), long('published'), long('target'), long('protocol')]
      : (short?.slice(1) ?? []);
  if (target === undefined) return undefined;
  return JSON.stringify([ip ?? '0.0.0.0', published ?? '', target, protocol ?? 'tcp']);
};

/** The key of `x-coppice.public` is the address, which can have only one target. */
const byRoute: KeyOf = (item) =>
  JSON.stringify([textOf(valueAt(item, 'alias')) ?? '', textOf(valueAt(item, 'path')) ?? '/']);

const byItsName: KeyOf = (item) => textOf(valueAt(item, 'name'));

const lists = (keyOf: KeyOf, ...shapes: string[]) => shapes.map((shape) => [shape, keyOf] as const);

/**
 * Lists in which an item replaces one with the same key; items of other lists are appended. From the specification's
 * page on merging and compose-go; paths are shapes as in merge-rules.ts.
 */
export const UNIQUE_LISTS: ReadonlyMap<string, KeyOf> = new Map([
  ...lists(byPort, 'services.*.ports'),
  ...lists(byTarget, 'services.*.volumes', 'services.*.devices'),
  ...lists(byMountedAt('/run/secrets/'), 'services.*.secrets', 'services.*.build.secrets'),
  ...lists(byMountedAt('/'), 'services.*.configs'),
  ...lists(byPath, 'services.*.env_file', 'services.*.label_file'),
  ...lists(byText, 'services.*.expose', 'services.*.extra_hosts', 'services.*.build.extra_hosts'),
  ...lists(byText, 'services.*.x-coppice.watch'),
  ...lists(byRoute, 'services.*.x-coppice.public'),
  // Tests and repositories, in the file's own x-coppice.
  ...lists(byItsName, 'services.*.x-coppice.jobs', 'x-coppice.*'),
  ...lists(
    byName,
    ...['cap_add', 'cap_drop', 'dns', 'dns_opt', 'dns_search', 'group_add', 'links', 'profiles', 'tmpfs'].map(
      (key) => `services.*.${key}`,
    ),
    'services.*.build.tags',
    'services.*.build.platforms',
    'services.*.networks.*.aliases',
    'services.*.networks.*.link_local_ips',
  ),
]);
