import { createHash } from 'node:crypto';
import { gunzipSync, zstdDecompressSync } from 'node:zlib';
import { z } from 'zod';
import { basicAuthorization, readRegistry, type Registry } from '../cluster/registries/registry.ts';

const descriptor = z.looseObject({ digest: z.string(), mediaType: z.string(), size: z.number() });
const manifestSchema = z.looseObject({
  mediaType: z.string().optional(),
  config: descriptor,
  layers: z.array(descriptor),
});
const manifestTypes =
  'application/vnd.oci.image.manifest.v1+json, application/vnd.docker.distribution.manifest.v2+json';

/** The cluster's registry, accessed from this machine. */
export class TestRegistry {
  readonly #registry: Registry;

  constructor() {
    const registry = readRegistry();
    if (!registry) throw new Error('there is no .local/registry.json: start the cluster with `npm run up`');
    this.#registry = registry;
  }

  /** Returns all unpacked contents of an image (`ADDRESS/PATH@DIGEST`) as texts: manifest, config, layers. */
  async contents(image: string): Promise<string[]> {
    const [path = '', digest = ''] = image.slice(this.#registry.address.length + 1).split('@');
    const manifest = await (await this.#call('GET', `${path}/manifests/${digest}`)).text();
    const { config, layers } = manifestSchema.parse(JSON.parse(manifest));
    const blobs = await Promise.all(
      [config, ...layers].map(async (blob) => {
        const bytes = Buffer.from(await (await this.#call('GET', `${path}/blobs/${blob.digest}`)).arrayBuffer());
        return unpacked(bytes, blob.mediaType).toString('latin1');
      }),
    );
    return [manifest, ...blobs];
  }

  /** Copies an image of the mirror to another name with an additional label: another image with the same files. */
  async copyWithLabel(from: string, to: string, label: string): Promise<void> {
    const [source = '', sourceTag = ''] = from.split(':');
    const [target = '', targetTag = ''] = to.split(':');
    const answer = await this.#call('GET', `${source}/manifests/${sourceTag}`);
    const manifest = manifestSchema.parse(await answer.json());
    for (const { digest } of manifest.layers) {
      await this.#call('POST', `${target}/blobs/uploads/?mount=${digest}&from=${source}`);
    }
    const config = z
      .looseObject({ config: z.looseObject({}) })
      .parse(await (await this.#call('GET', `${source}/blobs/${manifest.config.digest}`)).json());
    const bytes = JSON.stringify({ ...config, config: { ...config.config, Labels: { test: label } } });
    const digest = `sha256:${createHash('sha256').update(bytes).digest('hex')}`;
    const upload = await this.#call('POST', `${target}/blobs/uploads/`);
    const location = new URL(upload.headers.get('location') ?? '', this.#origin());
    location.searchParams.set('digest', digest);
    await this.#call(
      'PUT',
      `${location.pathname.slice('/v2/'.length)}${location.search}`,
      bytes,
      'application/octet-stream',
    );
    const described = { ...manifest, config: { ...manifest.config, digest, size: Buffer.byteLength(bytes) } };
    const type = answer.headers.get('content-type') ?? '';
    await this.#call('PUT', `${target}/manifests/${targetTag}`, JSON.stringify(described), type);
  }

  #origin(): string {
    return `${this.#registry.insecure ? 'http' : 'https'}://${this.#registry.hostAddress}`;
  }

  async #call(method: string, path: string, body?: string, type?: string): Promise<Response> {
    const answer = await fetch(`${this.#origin()}/v2/${path}`, {
      method,
      headers: {
        authorization: basicAuthorization(this.#registry),
        accept: method === 'GET' && path.includes('/manifests/') ? manifestTypes : '*/*',
        ...(type !== undefined && { 'content-type': type }),
      },
      ...(body !== undefined && { body }),
    });
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`);
    return answer;
  }
}

/** Unpacks a blob. Throws for an unknown type: a test that looks for a text in packed bytes would find none. */
function unpacked(bytes: Buffer, mediaType: string): Buffer {
  if (mediaType.endsWith('gzip')) return gunzipSync(bytes);
  if (mediaType.endsWith('zstd')) return zstdDecompressSync(bytes);
  if (/(json|tar)$/.test(mediaType)) return bytes;
  throw new Error(`a blob has the type ${mediaType}, which the tests do not unpack`);
}
