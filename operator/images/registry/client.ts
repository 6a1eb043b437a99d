import { z } from 'zod';
import type { Send } from '../../source/network/send.ts';
import { apiHost, splitAddress } from './own-registry.ts';
import { RegistrySession, type RegistryLogin } from './session.ts';

export interface RegistryOptions {
  /** `host[:port][/path]`, the prefix of its image names. */
  address: string;
  insecure: boolean;
  login: RegistryLogin;
  send: Send;
}

export interface ImageInRegistry {
  /** `sha256:…` */
  digest: string;
  layers: { digest: string; sizeBytes: number }[];
  annotations: Record<string, string>;
}

const descriptor = z.object({ digest: z.string(), size: z.number() });
const manifestSchema = z.object({
  layers: z.array(descriptor).default([]),
  annotations: z.record(z.string(), z.string()).nullish(),
});
const tagsSchema = z.object({ tags: z.array(z.string()).nullish() });
const catalogSchema = z.object({ repositories: z.array(z.string()).nullish() });

const manifestTypes = [
  'application/vnd.oci.image.manifest.v1+json',
  'application/vnd.docker.distribution.manifest.v2+json',
].join(', ');
const pageSize = 1000;
const maxPages = 100;

/** Lists and deletes images in Coppice's own registry. Repositories are named without the registry's address. */
export class RegistryClient {
  readonly #options: RegistryOptions;
  readonly #session: RegistrySession;
  /** Prefix of repository names at the registry: `path/`, or empty. */
  readonly #prefix: string;

  constructor(options: RegistryOptions) {
    this.#options = options;
    const { host, path } = splitAddress(options.address);
    this.#prefix = path === '' ? '' : `${path}/`;
    const origin = `${options.insecure ? 'http' : 'https'}://${apiHost(host)}`;
    this.#session = new RegistrySession({ origin, login: options.login, send: options.send });
  }

  /** Returns the image with this tag or digest; undefined if there is none. */
  async find(repository: string, reference: string): Promise<ImageInRegistry | undefined> {
    const answer = await this.#session.request({
      method: 'GET',
      path: `${this.#prefix}${repository}/manifests/${reference}`,
      scope: `repository:${this.#prefix}${repository}:pull`,
      accept: manifestTypes,
    });
    if (answer.status === 404) return undefined;
    const name = `${repository}:${reference}`;
    if (answer.status !== 200) throw new Error(`the registry responded with status ${answer.status} for ${name}`);
    const digest = answer.headers['docker-content-digest'];
    if (typeof digest !== 'string') throw new Error(`the registry returned no digest for ${name}`);
    const { layers, annotations } = manifestSchema.parse(JSON.parse(answer.body));
    return {
      digest,
      layers: layers.map((layer) => ({ digest: layer.digest, sizeBytes: layer.size })),
      annotations: annotations ?? {},
    };
  }

  /** Returns the tags of a repository; none if it does not exist. */
  async tags(repository: string): Promise<string[]> {
    const name = `${this.#prefix}${repository}`;
    const scope = `repository:${name}:pull`;
    const pages = await this.#pages(`${name}/tags/list`, scope, (body) => tagsSchema.parse(body).tags);
    return pages ?? [];
  }

  /** Returns all repositories; undefined if the registry does not list them, as hosted ones do not. */
  async repositories(): Promise<string[] | undefined> {
    const all = await this.#pages('_catalog', 'registry:catalog:*', (body) => catalogSchema.parse(body).repositories);
    return all?.filter((name) => name.startsWith(this.#prefix)).map((name) => name.slice(this.#prefix.length));
  }

  /** Deletes an image with all its tags. The registry's own garbage collection deletes its layers. */
  async delete(repository: string, digest: string): Promise<void> {
    const name = `${this.#prefix}${repository}`;
    const answer = await this.#session.request({
      method: 'DELETE',
      path: `${name}/manifests/${digest}`,
      scope: `repository:${name}:pull,delete`,
    });
    if (answer.status !== 202 && answer.status !== 200 && answer.status !== 404) {
      throw new Error(`the registry responded with status ${answer.status} to deleting ${repository}@${digest}`);
    }
  }

  /** Returns all pages of a list; undefined if the registry does not have or permit it. */
  async #pages(
    list: string,
    scope: string,
    read: (body: unknown) => string[] | null | undefined,
  ): Promise<string[] | undefined> {
    const found: string[] = [];
    let path: string | undefined = `${list}?n=${pageSize}`;
    for (let page = 0; path !== undefined && page < maxPages; page += 1) {
      const answer = await this.#session.request({ method: 'GET', path, scope });
      if ([401, 403, 404, 405].includes(answer.status)) return undefined;
      if (answer.status !== 200) throw new Error(`the registry responded with status ${answer.status} for ${list}`);
      found.push(...(read(JSON.parse(answer.body)) ?? []));
      path = nextPage(answer.headers.link, `http://${splitAddress(this.#options.address).host}`);
    }
    return found;
  }
}

/** Returns the path after `/v2/` of a Link header `</v2/…>; rel="next"`. */
function nextPage(link: string | string[] | undefined, origin: string): string | undefined {
  const [, target] = /^<([^>]+)>;\s*rel="?next"?/.exec([link ?? ''].flat()[0] ?? '') ?? [];
  if (target === undefined || !URL.canParse(target, origin)) return undefined;
  const { pathname, search } = new URL(target, origin);
  return pathname.startsWith('/v2/') ? `${pathname.slice('/v2/'.length)}${search}` : undefined;
}
