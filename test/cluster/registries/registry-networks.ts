import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import { isIpv6Only } from '../network/ipv6-only.ts';
import { IMAGES_CONTAINER } from './registry.ts';
import { run } from '../../support/run.ts';
import type { Cluster } from '../running-cluster.ts';

/**
 * Returns the private networks of the registries that builders use: each registry's own address, because the node has
 * one in the same network.
 */
export async function registryNetworks({ isKind, hubMirrors, kubectl }: Cluster): Promise<string[]> {
  if (!isKind) return ['172.16.0.0/12'];
  const family = (await isIpv6Only(kubectl)) ? 6 : 4;
  const field = family === 6 ? 'GlobalIPv6Address' : 'IPAddress';
  const format = `{{(index .NetworkSettings.Networks "kind").${field}}}`;
  const registry = (await run('docker', ['inspect', '--format', format, IMAGES_CONTAINER])).trim();
  const mirrors = await Promise.all(hubMirrors.map((url) => lookup(new URL(url).hostname, { family })));
  return [registry, ...mirrors.map(({ address }) => address)]
    .filter((address) => isIP(address) === family)
    .map((address) => `${address}/${family === 6 ? 128 : 32}`);
}
