import { createHash } from 'node:crypto';
import { openAsBlob, readFileSync } from 'node:fs';
import { z } from 'zod';
import { blobFile, type Descriptor } from './oci-layout.ts';

export interface OciRegistryOptions {
  /** host[:port], without a path. */
  host: string;
  /** Whether it uses plain HTTP. */
  insecure: boolean;
  /** None for anonymous requests. */
  credentials?: { username: string; password: string } | undefined;
}

const tokenSchema = z.looseObject({ token: z.string().optional(), access_token: z.string().optional() });
const indexSchema = z.looseObject({ mediaType: z.string().optional() });
const timeoutMs = 600_000;

export const sha256 = (bytes: Uint8Array | string): string => createHash('sha256').update(bytes).digest('hex');

/** Pushes to, and reads from, a registry by the OCI Distribution Specification, with Basic or token authentication. */
export class OciRegistry {
  readonly #options: OciRegistryOptions;
  /** By the scope that the registry asked for. */
  readonly #tokens = new Map<string, string>();

  constructor(options: OciRegistryOptions) {
    this.#options = options;
  }

  /** Pushes what a descriptor of an OCI layout refers to, with everything below it, and returns its digest. */
  async pushFromLayout(folder: string, descriptor: Descriptor, repository: string, tag: string): Promise<string> {
    const text = readFileSync(blobFile(folder, descriptor.digest), 'utf8');
    const content = manifestSchema.parse(JSON.parse(text));
    for (const manifest of content.manifests) {
      await this.pushFromLayout(folder, manifest, repository, manifest.digest);
    }
    for (const { digest } of [...content.layers, ...(content.config ? [content.config] : [])]) {
      await this.pushBlob(repository, digest, await openAsBlob(blobFile(folder, digest)));
    }
    return this.pushManifest(repository, tag, descriptor.mediaType, text);
  }

  async pushBlob(repository: string, digest: string, blob: Blob): Promise<void> {
    const known = await this.#call(repository, 'HEAD', `blobs/${digest}`, { accepted: [200, 404] });
    if (known.status === 200) return;
    const started = await this.#call(repository, 'POST', 'blobs/uploads/', { accepted: [202] });
    const upload = new URL(started.headers.get('location') ?? '', this.#url(repository, ''));
    upload.searchParams.set('digest', digest);
    const headers = { 'content-type': 'application/octet-stream' };
    await this.#call(repository, 'PUT', upload, { accepted: [201], headers, body: blob });
  }

  /** Stores a manifest under a tag or its digest, and returns its digest. */
  async pushManifest(repository: string, reference: string, mediaType: string, text: string): Promise<string> {
    const headers = { 'content-type': mediaType };
    await this.#call(repository, 'PUT', `manifests/${reference}`, { accepted: [201], headers, body: text });
    return `sha256:${sha256(text)}`;
  }

  /** Returns the digest of a tag; undefined if the registry does not have it. */
  async digestOf(repository: string, tag: string): Promise<string | undefined> {
    const headers = { accept: Object.values(MEDIA_TYPES).join(', ') };
    const answer = await this.#call(repository, 'GET', `manifests/${tag}`, { accepted: [200, 404], headers });
    const text = await answer.text();
    if (answer.status === 404) return undefined;
    indexSchema.parse(JSON.parse(text));
    return `sha256:${sha256(text)}`;
  }

  #url(repository: string, path: string): string {
    return `${this.#options.insecure ? 'http' : 'https'}://${this.#options.host}/v2/${repository}/${path}`;
  }

  async #call(
    repository: string,
    method: string,
    path: string | URL,
    { accepted, headers = {}, body }: { accepted: number[]; headers?: Record<string, string>; body?: Blob | string },
  ): Promise<Response> {
    const url = new URL(typeof path === 'string' ? this.#url(repository, path) : path);
    // A registry may store uploads at another host, which must not learn the login.
    const isOwn = url.origin === new URL(this.#url(repository, '')).origin;
    const attempt = (authorization: string | undefined) =>
      fetch(url, {
        method,
        headers: { ...headers, ...(authorization !== undefined && { authorization }) },
        signal: AbortSignal.timeout(timeoutMs),
        ...(body !== undefined && { body }),
      });
    let answer = await attempt(isOwn ? (this.#tokens.get(repository) ?? this.#basic()) : undefined);
    const challenge = answer.headers.get('www-authenticate') ?? '';
    if (isOwn && answer.status === 401 && challenge.startsWith('Bearer ')) {
      this.#tokens.set(repository, `Bearer ${await this.#token(challenge, repository)}`);
      answer = await attempt(this.#tokens.get(repository));
    }
    if (accepted.includes(answer.status)) return answer;
    const text = (await answer.text()).slice(0, 500);
    throw new Error(`the registry answers ${answer.status} to ${method} ${String(url)}: ${text}`);
  }

  #basic(): string | undefined {
    const { credentials } = this.#options;
    if (!credentials) return undefined;
    return `Basic ${Buffer.from(`${credentials.username}:${credentials.password}`).toString('base64')}`;
  }

  async #token(challenge: string, repository: string): Promise<string> {
    const fields = new Map([...challenge.matchAll(/(\w+)="([^"]*)"/g)].map(([, key = '', value = '']) => [key, value]));
    const url = new URL(fields.get('realm') ?? '');
    if (!this.#options.insecure && url.protocol !== 'https:') {
      throw new Error(
        `the registry's token server has the address ${url.origin}, which would send the login in plain text`,
      );
    }
    const service = fields.get('service');
    if (service !== undefined) url.searchParams.set('service', service);
    url.searchParams.set('scope', `repository:${repository}:pull,push`);
    const authorization = this.#basic();
    const answer = await fetch(url, {
      headers: authorization === undefined ? {} : { authorization },
      signal: AbortSignal.timeout(timeoutMs),
    });
    if (!answer.ok) throw new Error(`the registry's token server answers ${answer.status} for ${repository}`);
    const { token, access_token: accessToken } = tokenSchema.parse(await answer.json());
    const found = token ?? accessToken;
    if (found === undefined) throw new Error(`the registry's token server gives no token for ${repository}`);
    return found;
  }
}

export const MEDIA_TYPES = {
  index: 'application/vnd.oci.image.index.v1+json',
  manifest: 'application/vnd.oci.image.manifest.v1+json',
} as const;

const descriptorSchema = z.looseObject({ mediaType: z.string(), digest: z.string(), size: z.int() });
const manifestSchema = z.looseObject({
  manifests: z.array(descriptorSchema).default([]),
  layers: z.array(descriptorSchema).default([]),
  config: descriptorSchema.optional(),
});
