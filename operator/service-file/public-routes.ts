import { coppiceKeys, publicKeys } from './keys.ts';
import { PORT_RANGE } from './ports.ts';
import type { Place, Problems } from './problems.ts';
import { quoted } from './problems.ts';
import { optional, readFields, readInteger, readList, readText } from './read.ts';
import type { PublicRoute } from './schema.ts';
import type { YamlNode } from './yaml-node.ts';

/** One item of `x-coppice.public`. */
export interface NamedRoute {
  port: number;
  path: string;
  at: Place;
}

/** What stands under `public` in a service's x-coppice; undefined when nothing does. */
export function readPublic(node: YamlNode, problems: Problems): NamedRoute[] | undefined {
  const fields = readFields(node, coppiceKeys, problems);
  if (fields === undefined) return undefined;
  return optional(fields, 'public', readRoutes, problems);
}

function readRoutes(node: YamlNode, problems: Problems): NamedRoute[] | undefined {
  return readList(node, problems)?.flatMap((item) => {
    const fields = readFields(item, publicKeys, problems);
    if (fields === undefined) return [];
    const path = fields.has('path') ? optional(fields, 'path', readPath, problems) : '/';
    const portNode = fields.get('port')?.value;
    const port =
      portNode === undefined
        ? problems.error(item, "has no port: name one of the service's ports")
        : readInteger(portNode, PORT_RANGE, problems);
    return port === undefined || path === undefined ? [] : [{ port, path, at: item }];
  });
}

/** A path prefix that every Ingress controller takes; the last slash goes, `/api` and `/api/` are the same prefix. */
function readPath(node: YamlNode, problems: Problems): string | undefined {
  const text = readText(node, problems);
  if (text === undefined) return undefined;
  const steps = text.split('/').slice(1, text.endsWith('/') ? -1 : undefined);
  const good = text.length <= 256 && text.startsWith('/') && steps.every((step) => /^(?!\.+$)[\w.~-]+$/.test(step));
  if (good) return `/${steps.join('/')}`;
  return problems.error(
    node,
    `${quoted(text)} is no path: begin with /, and use letters, digits, _, -, . and ~ between slashes`,
  );
}

interface Candidate {
  name: string;
  at: Place;
  /** The container's ports of `ports`, in the order of the file. */
  published: readonly number[];
  /** Every port, of `ports` and `expose`. */
  ports: readonly number[];
  named: readonly NamedRoute[] | undefined;
}

/**
 * The routes that x-coppice.public names, sorted by path. Where it names none, the only service with `ports` is public
 * at its first one; with several such services nothing is guessed. `at` is where the services stand.
 */
export function planPublicRoutes(services: readonly Candidate[], at: Place, problems: Problems): PublicRoute[] {
  const named = services.flatMap(({ name, ports, named: routes }) =>
    (routes ?? []).map((route) => ({ service: name, ports, ...route })),
  );
  if (named.length > 0) return checkNamed(named, problems);
  const candidates = services.filter((service) => service.published.length > 0 && service.named === undefined);
  const [only, second] = candidates;
  const port = only?.published[0];
  if (only === undefined || port === undefined) {
    problems.warn(at, 'no service has ports: the environment will have no web address');
    return [];
  }
  if (second !== undefined) {
    const names = candidates.map(({ name }) => name).join(', ');
    problems.error(
      second.at,
      `several services have ports (${names}): name the public one with "x-coppice: { public: [{ port: … }] }" in it`,
    );
    return [];
  }
  return [{ service: only.name, port, path: '/' }];
}

function checkNamed(
  routes: readonly (NamedRoute & { service: string; ports: readonly number[] })[],
  problems: Problems,
): PublicRoute[] {
  const byPath = new Map<string, PublicRoute>();
  for (const { service, port, path, ports, at } of routes) {
    const taken = byPath.get(path);
    if (!ports.includes(port)) {
      problems.error(at, `the service has no port ${port}: add it to its ports or expose`);
    } else if (taken !== undefined) {
      problems.error(at, `the path ${quoted(path)} already leads to ${taken.service}: give each route its own path`);
    } else {
      byPath.set(path, { service, port, path });
    }
  }
  return [...byPath.values()].sort((a, b) => (a.path < b.path ? -1 : 1));
}
