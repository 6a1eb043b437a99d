import { addressGuard } from '../../source/network/addresses.ts';
import { BaseImages } from './base-images.ts';
import { RegistryClient } from './client.ts';
import { FoundImages } from './found-images.ts';
import { splitAddress } from './own-registry.ts';
import { createSend } from '../../source/network/send.ts';
import type { RegistryLogin } from './session.ts';

const ownTimeoutMs = 15_000;
/** Timeout of requests for base images, in milliseconds; builds wait for them. */
const baseTimeoutMs = 5000;
/** Maximum size of their responses: only headers and tokens are read. */
const baseBytes = 64 * 1024;

export interface Registries {
  /** Client of Coppice's own registry. */
  registry: RegistryClient;
  baseImages: BaseImages;
  found: FoundImages;
}

export interface RegistrySettings {
  /** Address of Coppice's own registry, `host[:port][/path]`. */
  address: string;
  insecure: boolean;
  /** Mirrors by registry. */
  mirrors: Readonly<Record<string, readonly string[]>>;
  insecureAddresses: readonly string[];
  allowedCidrs: readonly string[];
}

/**
 * Creates the clients of registries. Registries that Dockerfiles name can be anywhere except at addresses that builds
 * must not connect to.
 */
export function createRegistries({ registry }: { registry: RegistrySettings }, login: RegistryLogin): Registries {
  const { address, insecure, mirrors, insecureAddresses, allowedCidrs } = registry;
  const { host } = splitAddress(address);
  const byAdministrator = new Set([host, ...insecureAddresses, ...Object.values(mirrors).flat().map(hostOf)]);
  const isPublic = addressGuard(allowedCidrs);
  return {
    found: new FoundImages(),
    registry: new RegistryClient({
      address,
      insecure,
      login,
      send: createSend({ timeoutMs: ownTimeoutMs }),
    }),
    baseImages: new BaseImages({
      mirrors,
      // The operator signs tokens itself and cannot use the token server, which serves other clients.
      ...('token' in login && { ownMirrors: { host, login } }),
      insecure: new Set([...(insecure ? [host] : []), ...insecureAddresses]),
      send: createSend({
        isAddressAllowed: (host, to) => byAdministrator.has(host) || isPublic(to),
        timeoutMs: baseTimeoutMs,
        maxBytes: baseBytes,
      }),
    }),
  };
}

function hostOf(mirror: string): string {
  return mirror.split('/')[0] ?? '';
}
