import { z } from 'zod';

export interface RegistryOptions {
  /** `host[:port]`, as image names begin. */
  address: string;
  insecure: boolean;
  username: string | undefined;
  password: string | undefined;
  fetch?: typeof fetch;
}

export interface ImageInRegistry {
  /** `sha256:…` */
  digest: string;
  layers: { digest: string; sizeBytes: number }[];
}

const descriptor = z.object({ digest: z.string(), size: z.number() });
const manifestSchema = z.object({ config: descriptor.optional(), layers: z.array(descriptor).default([]) });
const tokenSchema = z.object({ token: z.string().optional(), access_token: z.string().optional() });

const manifestTypes = [
  'application/vnd.oci.image.manifest.v1+json',
  'application/vnd.docker.distribution.manifest.v2+json',
].join(', ');

/** Asks a registry what it holds (OCI Distribution Specification 1.1). */
export class RegistryClient {
  readonly #options: RegistryOptions;
  readonly #fetch: typeof fetch;

  constructor(options: RegistryOptions) {
    this.#options = options;
    this.#fetch = options.fetch ?? fetch;
  }

  /** The image under this tag, or undefined. `repository` begins with the registry's address. */
  async find(repository: string, tag: string): Promise<ImageInRegistry | undefined> {
    const path = repository.slice(this.#options.address.length + 1);
    const scheme = this.#options.insecure ? 'http' : 'https';
    const url = `${scheme}://${this.#options.address}/v2/${path}/manifests/${tag}`;
    const response = await this.#request(url, path);
    if (response.status === 404) return undefined;
    if (!response.ok) throw new Error(`the registry answered ${response.status} for ${repository}:${tag}`);
    const digest = response.headers.get('docker-content-digest');
    if (digest === null) throw new Error(`the registry gave no digest for ${repository}:${tag}`);
    const manifest = manifestSchema.parse(await response.json());
    return { digest, layers: manifest.layers.map((layer) => ({ digest: layer.digest, sizeBytes: layer.size })) };
  }

  async #request(url: string, path: string): Promise<Response> {
    const response = await this.#get(url, this.#basic());
    const challenge = response.headers.get('www-authenticate');
    if (response.status !== 401 || challenge === null || !/^bearer /i.test(challenge)) return response;
    return this.#get(url, `Bearer ${await this.#token(challenge, path)}`);
  }

  /** A token for one repository, as the registry's challenge asks (Distribution's token specification). */
  async #token(challenge: string, path: string): Promise<string> {
    const parameters = new Map([...challenge.matchAll(/(\w+)="([^"]*)"/g)].map(([, key, value]) => [key, value]));
    const realm = parameters.get('realm');
    if (realm === undefined) throw new Error('the registry asks for a token without saying where to get it');
    const url = new URL(realm);
    url.searchParams.set('service', parameters.get('service') ?? '');
    url.searchParams.set('scope', `repository:${path}:pull`);
    const response = await this.#get(url.href, this.#basic());
    if (!response.ok) throw new Error(`the registry's token service answered ${response.status}`);
    const { token, access_token: accessToken } = tokenSchema.parse(await response.json());
    const given = token ?? accessToken;
    if (given === undefined) throw new Error("the registry's token service gave no token");
    return given;
  }

  #basic(): string | undefined {
    const { username, password } = this.#options;
    if (username === undefined || password === undefined) return undefined;
    return `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`;
  }

  async #get(url: string, authorization: string | undefined): Promise<Response> {
    const headers = { accept: manifestTypes, ...(authorization && { authorization }) };
    try {
      return await this.#fetch(url, { headers, redirect: 'follow', signal: AbortSignal.timeout(15_000) });
    } catch (error) {
      throw new Error(`the registry ${this.#options.address} did not answer`, { cause: error });
    }
  }
}
