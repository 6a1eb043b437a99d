import { addressGuard } from '../../source/network/addresses.ts';
import { BaseImages } from './base-images.ts';
import { RegistryClient } from './client.ts';
import { FoundImages } from './found-images.ts';
import { splitAddress } from './own-registry.ts';
import { createSend } from '../../source/network/send.ts';
import type { RegistryLogin } from './session.ts';

const ownTimeoutMs = 15_000;
/** A build waits for it. */
const baseTimeoutMs = 5000;
/** Of them only headers and tokens are read. */
const baseBytes = 64 * 1024;

export interface Registries {
  /** Coppice's own. */
  registry: RegistryClient;
  baseImages: BaseImages;
  found: FoundImages;
}

export interface RegistrySettings {
  /** Coppice's own registry, `host[:port][/path]`. */
  address: string;
  insecure: boolean;
  /** By registry: what stands in for it. */
  mirrors: Readonly<Record<string, readonly string[]>>;
  insecureAddresses: readonly string[];
  allowedCidrs: readonly string[];
}

/** Puts together what asks registries. Those that Dockerfiles name may be anywhere but where builds may not go. */
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
      // Clients of the token server cannot be sent there by the operator, which signs for itself.
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
