import type { SourcePosition, Problems } from '../problems.ts';
import { quoted, tooMany } from '../problems.ts';
import type { PublicRoute } from '../schema.ts';
import type { YamlNode } from '../yaml/yaml-node.ts';
import { publicKeys } from './keys/x-coppice-keys.ts';
import { isHostLabel } from './names.ts';
import type { IncludedAs } from '../included.ts';
import { PORT_RANGE } from './ports.ts';
import { optional, readFields, readInteger, readList, readName, readText } from './read.ts';

/** One item of `x-coppice.public`. */
export interface NamedRoute {
  port: number;
  path: string;
  alias?: string;
  at: SourcePosition;
}

/** Limit for all services together: each route can be a separate host. */
export const MAX_ROUTES = 20;

export function readRoutes(node: YamlNode, problems: Problems): NamedRoute[] | undefined {
  return readList(node, problems)?.flatMap((item) => {
    const fields = readFields(item, publicKeys, problems);
    if (fields === undefined) return [];
    const path = fields.has('path') ? optional(fields, 'path', readPath, problems) : '/';
    const alias = optional(fields, 'alias', readAlias, problems);
    const portNode = fields.get('port')?.value;
    const port =
      portNode === undefined
        ? problems.error(item, "has no port: name one of the service's ports")
        : readInteger(portNode, PORT_RANGE, problems);
    if (port === undefined || path === undefined) return [];
    return [{ port, path, ...(alias !== undefined && { alias }), at: item }];
  });
}

/**
 * Reads a path prefix in a form that every Ingress controller accepts, without a trailing slash: `/api` and `/api/` are
 * the same prefix.
 */
function readPath(node: YamlNode, problems: Problems): string | undefined {
  const text = readText(node, problems);
  if (text === undefined) return undefined;
  const steps = text.split('/').slice(1, text.endsWith('/') ? -1 : undefined);
  const good = text.length <= 256 && text.startsWith('/') && steps.every((step) => /^(?!\.+$)[\w.~-]+$/.test(step));
  if (good) return `/${steps.join('/')}`;
  return problems.error(
    node,
    `${quoted(text)} is not a path: start with /, and use letters, digits, _, -, . and ~ between slashes`,
  );
}

/** Reads the part of a host's label before the environment's label. */
export function readAlias(node: YamlNode, problems: Problems): string | undefined {
  const text = readName(node, problems);
  if (text === undefined || isHostLabel(text, 40)) return text;
  return problems.error(
    node,
    `${quoted(text)} is not an alias: use lower-case letters, digits and -, a letter first, at most 40`,
  );
}

interface Candidate {
  name: string;
  at: SourcePosition;
  /** The container's TCP ports in `ports`, in the order of the file. */
  published: readonly number[];
  /** All TCP ports, of `ports` and `expose`. */
  ports: readonly number[];
  named: readonly NamedRoute[] | undefined;
  /** Whether the service runs once, and thus cannot be public. */
  runsOnce: boolean;
}

/**
 * Returns the routes in x-coppice.public, sorted by alias and path. Without any, the only service with `ports` is
 * public at its first port; with several such services, none is. `at` is the position of the services. An included
 * repository without an alias has only the routes that it names: the host belongs to the environment's own repository.
 */
export function planPublicRoutes(
  services: readonly Candidate[],
  at: SourcePosition,
  problems: Problems,
  included?: IncludedAs,
): PublicRoute[] {
  const named = services.flatMap((service) => (service.named ?? []).map((route) => ({ service, route })));
  if (named.length > 0) return checkNamed(named, problems);
  if (included?.hasAlias === false) return [];
  const candidates = services.filter(
    ({ published, named: routes, runsOnce }) => published.length > 0 && routes === undefined && !runsOnce,
  );
  const [only, second] = candidates;
  const port = only?.published[0];
  if (only === undefined || port === undefined) {
    problems.warn(at, 'no service has ports: the environment will have no web address');
    return [];
  }
  if (second !== undefined) {
    const names = candidates.map(({ name }) => name).join(', ');
    problems.warn(
      at,
      `several services have ports (${names}), so none of them is public: name the web address with "x-coppice: { public: [{ port: … }] }" in its service`,
    );
    return [];
  }
  return [{ service: only.name, port, path: '/' }];
}

function checkNamed(named: readonly { service: Candidate; route: NamedRoute }[], problems: Problems): PublicRoute[] {
  const beyond = named[MAX_ROUTES];
  if (beyond !== undefined) problems.error(beyond.route.at, tooMany(MAX_ROUTES, 'public routes'));
  const byAddress = new Map<string, PublicRoute>();
  for (const { service, route } of named) {
    const { port, path, alias, at } = route;
    const address = `${alias ?? ''}${path}`;
    const taken = byAddress.get(address);
    if (service.runsOnce) {
      problems.error(at, 'the service runs once and ends, so it cannot be public: remove this');
    } else if (!service.ports.includes(port)) {
      problems.error(at, `the service has no port ${port}: add it to its ports or expose`);
    } else if (taken !== undefined) {
      problems.error(at, `the path ${quoted(path)} already leads to ${taken.service}: give each route its own path`);
    } else {
      byAddress.set(address, { service: service.name, port, path, ...(alias !== undefined && { alias }) });
    }
  }
  return [...byAddress].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, route]) => route);
}
