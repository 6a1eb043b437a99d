import type { RegistryAuths } from './docker-config.ts';
import type { Send } from '../../source/network/send.ts';
import { formatReference, parseReference, type ImageReference } from './reference.ts';
import { apiHost } from './own-registry.ts';
import { RegistrySession, type RegistryLogin } from './session.ts';

export interface BaseImagesOptions {
  send: Send;
  /** By registry: `host[:port][/path]` that stand in for it, asked before it. */
  mirrors: Readonly<Record<string, readonly string[]>>;
  /** Registries that speak plain HTTP. */
  insecure: ReadonlySet<string>;
  /** How mirrors in Coppice's own registry are read; absent: by the credentials of the request. */
  ownMirrors?: { host: string; login: RegistryLogin };
  /** Milliseconds; the system's clock by default. */
  now?: () => number;
}

export interface BaseDigests {
  /** `sha256:…` by the image's whole name, of those that were found out. */
  digests: Map<string, string>;
  /** Why not, by the image's whole name. */
  failures: Map<string, string>;
  /** How many names were more than are asked for. */
  unasked: number;
}

/** Whoever opens a pull request writes the Dockerfile: it decides neither how much the operator asks nor how long. */
const maxNames = 50;
const atOnce = 4;
/** After that no further one is asked for: a build's reconcile waits for it. */
const maxMs = 15_000;

const manifestTypes = [
  'application/vnd.oci.image.index.v1+json',
  'application/vnd.docker.distribution.manifest.list.v2+json',
  'application/vnd.oci.image.manifest.v1+json',
  'application/vnd.docker.distribution.manifest.v2+json',
].join(', ');

/** Finds out what the names of base images lead to now. */
export class BaseImages {
  readonly #options: BaseImagesOptions;

  constructor(options: BaseImagesOptions) {
    this.#options = options;
  }

  /** Never rejects: what cannot be found out is reported. Names that hold a digest are not asked for. */
  async digests(names: readonly string[], auths: RegistryAuths): Promise<BaseDigests> {
    const { now = Date.now } = this.#options;
    const moving = [...new Set(names)].flatMap((name) => {
      const reference = parseReference(name);
      return reference && reference.digest === undefined ? [{ name, reference }] : [];
    });
    const asked = moving.slice(0, maxNames);
    const found: BaseDigests = { digests: new Map(), failures: new Map(), unasked: moving.length - asked.length };
    const endsAt = now() + maxMs;
    const rest = asked.values();
    const work = async () => {
      for (const { name, reference } of rest) {
        try {
          if (now() >= endsAt) throw new Error('the registries of other base images were too slow');
          found.digests.set(name, await this.#digestOf(reference, auths));
        } catch (error) {
          found.failures.set(name, wordsOf(error));
        }
      }
    };
    await Promise.all(Array.from({ length: atOnce }, work));
    return found;
  }

  /** From the first of the mirrors that has it, and the registry itself after them, as buildkitd does it. */
  async #digestOf(reference: ImageReference, auths: RegistryAuths): Promise<string> {
    const { registry, repository } = reference;
    const locations = [
      ...(this.#options.mirrors[registry] ?? []).map((mirror) => {
        const [host = '', ...prefix] = mirror.split('/');
        return { host, account: host, path: [...prefix, repository].join('/'), isMirror: true };
      }),
      { host: apiHost(registry), account: registry, path: repository, isMirror: false },
    ];
    const failures: string[] = [];
    const { ownMirrors, send } = this.#options;
    for (const { host, account, path, isMirror } of locations) {
      const origin = `${this.#options.insecure.has(host) ? 'http' : 'https'}://${host}`;
      const credentials = auths.get(account);
      const isOwn = isMirror && host === ownMirrors?.host;
      const login = isOwn ? ownMirrors.login : { credentials: () => credentials };
      const session = new RegistrySession({ origin, login, send });
      try {
        return await askFor(session, path, reference);
      } catch (error) {
        failures.push(wordsOf(error));
      }
    }
    throw new Error(failures.at(-1));
  }
}

async function askFor(session: RegistrySession, path: string, reference: ImageReference): Promise<string> {
  const { status, headers } = await session.request({
    method: 'HEAD',
    path: `${path}/manifests/${reference.tag}`,
    scope: `repository:${path}:pull`,
    accept: manifestTypes,
  });
  if (status !== 200) throw new Error(`the registry answered ${status} for ${formatReference(reference)}`);
  const digest = headers['docker-content-digest'];
  if (typeof digest !== 'string' || !/^sha256:[0-9a-f]{64}$/.test(digest)) {
    throw new Error(`the registry gave no digest for ${formatReference(reference)}`);
  }
  return digest;
}

function wordsOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? `${error.message}: ${error.cause.message}` : error.message;
}
