import type { RegistryAuths } from './docker-config.ts';
import type { Send } from '../../source/network/send.ts';
import { formatReference, parseReference, type ImageReference } from './reference.ts';
import { absenceOf, RegistryStatusError, type ImageLookup } from './image-lookup.ts';
import { apiHost } from './own-registry.ts';
import { RegistrySession, type RegistryLogin } from './session.ts';

export interface BaseImagesOptions {
  send: Send;
  /** Mirrors by registry, as `host[:port][/path]`; they are asked first. */
  mirrors: Readonly<Record<string, readonly string[]>>;
  /** Registries that use plain HTTP. */
  insecure: ReadonlySet<string>;
  /** Access to mirrors in Coppice's own registry; if absent, the credentials of the request are used. */
  ownMirrors?: { host: string; login: RegistryLogin };
  /** Returns milliseconds; the system's clock by default. */
  now?: () => number;
}

export interface BaseDigests {
  /** The digests found, `sha256:…`, by the image's full name. */
  digests: Map<string, string>;
  /** Why other images have no digest, by the image's full name. */
  failures: Map<string, string>;
  /** Number of names beyond the limit, which were not looked up. */
  unasked: number;
}

/** Limit of names per build: Dockerfiles are untrusted and must not control how many requests the operator sends. */
const maxNames = 50;
const atOnce = 4;
/** After this time no further image is looked up, because the build's reconcile waits for it. In milliseconds. */
const maxMs = 15_000;

const manifestTypes = [
  'application/vnd.oci.image.index.v1+json',
  'application/vnd.docker.distribution.manifest.list.v2+json',
  'application/vnd.oci.image.manifest.v1+json',
  'application/vnd.docker.distribution.manifest.v2+json',
].join(', ');

/** Looks up the current digests of images at any registry. */
export class BaseImages {
  readonly #options: BaseImagesOptions;

  constructor(options: BaseImagesOptions) {
    this.#options = options;
  }

  /** Returns the digests; reports failures instead of rejecting. Names that contain a digest are not looked up. */
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
          if (now() >= endsAt) throw new Error('looking up the other base images took too long');
          const { digest, failures } = await this.#ask(reference, auths);
          if (digest === undefined) found.failures.set(name, wordsOf(failures.at(-1)));
          else found.digests.set(name, digest);
        } catch (error) {
          found.failures.set(name, wordsOf(error));
        }
      }
    };
    await Promise.all(Array.from({ length: atOnce }, work));
    return found;
  }

  /** Returns the image's digest, or why there is none; never rejects. */
  async find(reference: ImageReference, auths: RegistryAuths): Promise<ImageLookup> {
    const { digest, failures } = await this.#ask(reference, auths);
    return digest === undefined ? absenceOf(failures) : { digest };
  }

  /**
   * Returns the digest from the first mirror that has the image, or from the registry itself, in buildkitd's order; if
   * none has it, the error of each, with that of the registry itself at the end.
   */
  async #ask(reference: ImageReference, auths: RegistryAuths): Promise<{ digest?: string; failures: unknown[] }> {
    const { registry, repository } = reference;
    const locations = [
      ...(this.#options.mirrors[registry] ?? []).map((mirror) => {
        const [host = '', ...prefix] = mirror.split('/');
        return { host, account: host, path: [...prefix, repository].join('/'), isMirror: true };
      }),
      { host: apiHost(registry), account: registry, path: repository, isMirror: false },
    ];
    const failures: unknown[] = [];
    const { ownMirrors, send } = this.#options;
    for (const { host, account, path, isMirror } of locations) {
      const origin = `${this.#options.insecure.has(host) ? 'http' : 'https'}://${host}`;
      const credentials = auths.get(account);
      const isOwn = isMirror && host === ownMirrors?.host;
      const login = isOwn ? ownMirrors.login : { credentials: () => credentials };
      const session = new RegistrySession({ origin, login, send });
      try {
        return { digest: await askFor(session, path, reference), failures };
      } catch (error) {
        failures.push(error);
      }
    }
    return { failures };
  }
}

async function askFor(session: RegistrySession, path: string, reference: ImageReference): Promise<string> {
  const { status, headers } = await session.request({
    method: 'HEAD',
    path: `${path}/manifests/${reference.tag}`,
    scope: `repository:${path}:pull`,
    accept: manifestTypes,
  });
  if (status !== 200) throw new RegistryStatusError(status, formatReference(reference));
  const digest = headers['docker-content-digest'];
  if (typeof digest !== 'string' || !/^sha256:[0-9a-f]{64}$/.test(digest)) {
    throw new Error(`the registry returned no digest for ${formatReference(reference)}`);
  }
  return digest;
}

function wordsOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? `${error.message}: ${error.cause.message}` : error.message;
}
