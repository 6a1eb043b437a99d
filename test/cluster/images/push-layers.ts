import { createReadStream, statSync } from 'node:fs';
import { request } from 'node:http';
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { pipeline } from 'node:stream/promises';
import type { ImageStore, StoredImage } from './image-store.ts';
import { linkLayer } from './link-layers.ts';
import { basicAuthorization, REGISTRY_HOST_ADDRESS } from '../registries/registry.ts';
import type { Registry } from '../registries/registry.ts';

const mediaTypes = {
  manifest: 'application/vnd.oci.image.manifest.v1+json',
  config: 'application/vnd.oci.image.config.v1+json',
  layer: 'application/vnd.oci.image.layer.v1.tar',
};

/** The repository of each layer that this process has found or pushed, from which the registry can mount it. */
const repositories = new Map<string, string>();

/**
 * Pushes a stored image to the local registry by the OCI Distribution Specification, with uncompressed layers:
 * compression takes most of the time of `docker push`.
 */
export async function pushLayers(
  store: ImageStore,
  image: StoredImage,
  path: string,
  registry: Registry,
): Promise<void> {
  const [repository = '', tag = 'latest'] = path.split(':');
  for (const digest of [...image.layers, image.config]) await pushBlob(store, digest, repository, registry);
  const descriptor = (mediaType: string, digest: string) => ({
    mediaType,
    size: statSync(store.blob(digest)).size,
    digest: `sha256:${digest}`,
  });
  const manifest = JSON.stringify({
    schemaVersion: 2,
    mediaType: mediaTypes.manifest,
    config: descriptor(mediaTypes.config, image.config),
    layers: image.layers.map((digest) => descriptor(mediaTypes.layer, digest)),
  });
  const headers = { 'content-type': mediaTypes.manifest };
  await call(registry, 'PUT', `/v2/${repository}/manifests/${tag}`, { headers, text: manifest });
}

async function pushBlob(store: ImageStore, digest: string, repository: string, registry: Registry): Promise<void> {
  const known = `/v2/${repository}/blobs/sha256:${digest}`;
  const has = async () => (await call(registry, 'HEAD', known, { accepted: [200, 404] })).statusCode === 200;
  const link = async () =>
    registry.hostAddress === REGISTRY_HOST_ADDRESS && (await linkLayer(store, digest, repository)) && has();
  if (!(await has()) && !(await link())) {
    const from = repositories.get(digest);
    const mount = from === undefined ? '' : `?mount=sha256:${digest}&from=${encodeURIComponent(from)}`;
    const started = await call(registry, 'POST', `/v2/${repository}/blobs/uploads/${mount}`);
    if (started.statusCode !== 201) {
      const upload = new URL(started.headers.location ?? '', `http://${registry.hostAddress}`);
      upload.searchParams.set('digest', `sha256:${digest}`);
      await call(registry, 'PUT', `${upload.pathname}${upload.search}`, { file: store.blob(digest) });
    }
  }
  repositories.set(digest, repository);
}

interface CallOptions {
  headers?: Record<string, string>;
  text?: string;
  file?: string;
  /** Statuses that are not failures; defaults to all statuses of success. */
  accepted?: readonly number[];
}

async function call(
  registry: Registry,
  method: string,
  path: string,
  { headers = {}, text, file, accepted = [200, 201, 202] }: CallOptions = {},
): Promise<IncomingMessage> {
  const length = file === undefined ? Buffer.byteLength(text ?? '') : statSync(file).size;
  const sent = request(`http://${registry.hostAddress}${path}`, {
    method,
    headers: { authorization: basicAuthorization(registry), 'content-length': length, ...headers },
    timeout: 60_000,
  });
  sent.on('timeout', () => sent.destroy(new Error(`the registry does not respond to ${method} ${path} within 60 s`)));
  const answered = once(sent, 'response') as Promise<[IncomingMessage]>;
  if (file === undefined) sent.end(text);
  else await Promise.all([pipeline(createReadStream(file, { highWaterMark: 1024 * 1024 }), sent), answered]);
  const [response] = await answered;
  response.resume();
  if (accepted.includes(response.statusCode ?? 0)) return response;
  throw new Error(`the registry responds with status ${response.statusCode ?? 0} to ${method} ${path}`);
}
