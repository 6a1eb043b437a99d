import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { LOCAL_FOLDER } from '../../support/paths.ts';

export const REGISTRY_CONTAINER = 'kind-registry';
export const REGISTRY_VOLUME = 'coppice-registry';
/** Container that serves built images from the same volume, with token authentication (token-registry.ts). */
export const IMAGES_CONTAINER = 'kind-images';
export const IMAGES_ADDRESS = `${IMAGES_CONTAINER}:5000`;
export const IMAGES_PORT = 5002;
export const IMAGES_HOST_ADDRESS = `127.0.0.1:${IMAGES_PORT}`;
export const REGISTRY_PORT = 5001;
/** Address of the local registry for this machine. */
export const REGISTRY_HOST_ADDRESS = `127.0.0.1:${REGISTRY_PORT}`;
const registryFile = join(LOCAL_FOLDER, 'registry.json');

const registrySchema = z.object({
  /** Address of built images for Coppice, builds and the kubelet: host:port. */
  address: z.string(),
  /**
   * Address from which the node pulls images that are needed before Coppice runs, with this account; `address` if
   * absent.
   */
  nodeAddress: z.string().optional(),
  /** Address of the registry as this machine reaches it. */
  hostAddress: z.string(),
  username: z.string(),
  password: z.string(),
  /** Whether it uses plain HTTP. */
  insecure: z.boolean(),
});
export type Registry = z.infer<typeof registrySchema>;

/** Returns the registry of the running cluster from .local/registry.json; undefined if there is none. */
export function readRegistry(): Registry | undefined {
  if (!existsSync(registryFile)) return undefined;
  return registrySchema.parse(JSON.parse(readFileSync(registryFile, 'utf8')));
}

export function writeRegistry(registry: Registry): void {
  mkdirSync(LOCAL_FOLDER, { recursive: true });
  writeFileSync(registryFile, JSON.stringify(registry, null, 2), { mode: 0o600 });
  chmodSync(registryFile, 0o600);
}

/** Returns the value of its Authorization header. */
export function basicAuthorization(registry: Registry): string {
  return `Basic ${Buffer.from(`${registry.username}:${registry.password}`).toString('base64')}`;
}
