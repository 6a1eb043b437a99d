import { parseArgs } from 'node:util';
import { Problem } from '../support/problem.ts';
import type { ReleaseSecrets } from './secrets.ts';

/** Where images and chart are pushed. */
export interface Destination {
  /** host[:port] */
  host: string;
  /** Path below the host; '' for none. */
  path: string;
  insecure: boolean;
  credentials?: { username: string; password: string } | undefined;
}

export interface ReleaseOptions {
  version: string;
  isDryRun: boolean;
  platforms: string[];
  registry: Destination | undefined;
  nodeImage: string | undefined;
  out: string | undefined;
}

const usage =
  'npm run release -- VERSION [--dry-run] [--registry HOST[/PATH]] [--plain-http] [--platforms linux/amd64,linux/arm64] [--node-image NAME@sha256:…] [--out FOLDER]';

/** Reads the arguments; the login at the registry is in REGISTRY_USERNAME and REGISTRY_PASSWORD. */
export function readOptions(args: readonly string[], secrets: ReleaseSecrets): ReleaseOptions {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      'dry-run': { type: 'boolean', default: false },
      registry: { type: 'string' },
      'plain-http': { type: 'boolean', default: false },
      platforms: { type: 'string', default: 'linux/amd64' },
      'node-image': { type: 'string' },
      out: { type: 'string' },
    },
  });
  const [version = '', ...rest] = positionals;
  if (!isVersion(version) || rest.length > 0) throw new Problem(`Name one version of three numbers:\n${usage}`);
  const platforms = values.platforms.split(',');
  const unknown = platforms.filter((platform) => !/^linux\/(amd64|arm64)$/.test(platform));
  if (unknown.length > 0) throw new Problem(`${unknown.join(', ')}: only linux/amd64 and linux/arm64 are built.`);
  const nodeImage = values['node-image'];
  if (nodeImage !== undefined && !/@sha256:[0-9a-f]{64}$/.test(nodeImage)) {
    throw new Problem('--node-image must name a digest: NAME@sha256:…');
  }
  if (!values['dry-run'] && values.registry === undefined) throw new Problem(`A release needs a registry:\n${usage}`);
  return {
    version,
    isDryRun: values['dry-run'],
    platforms,
    nodeImage,
    out: values.out,
    registry: values.registry === undefined ? undefined : destination(values.registry, values['plain-http'], secrets),
  };
}

function destination(name: string, insecure: boolean, secrets: ReleaseSecrets): Destination {
  if (!/^[a-z0-9][a-z0-9.-]*(:\d+)?(\/[a-z0-9][a-z0-9._-]*)*$/.test(name)) {
    throw new Problem(`--registry ${name} must have the form HOST[:PORT][/PATH], in lower case and without a scheme.`);
  }
  const [host = '', ...path] = name.split('/');
  const { REGISTRY_USERNAME: username, REGISTRY_PASSWORD: password } = secrets;
  return {
    host,
    path: path.join('/'),
    insecure,
    ...(username !== undefined && password !== undefined && { credentials: { username, password } }),
  };
}

/** Returns whether this is a version of three numbers, as Semantic Versioning writes them. */
export function isVersion(text: string): boolean {
  return /^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)$/.test(text);
}

/** Returns the repository of an image below the destination's path, without the host. */
export function repositoryOf({ path }: Destination, name: string): string {
  return path === '' ? name : `${path}/${name}`;
}
