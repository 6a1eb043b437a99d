import { lookup } from 'node:dns/promises';
import { isIPv4 } from 'node:net';
import { IMAGES_CONTAINER } from './registry.ts';
import { run } from './run.ts';
import type { Cluster } from './running-cluster.ts';

/**
 * Returns the private networks of the registries that builders use: each registry's own address, because the node has
 * one in the same network.
 */
export async function registryNetworks({ isKind, hubMirrors }: Cluster): Promise<string[]> {
  if (!isKind) return ['172.16.0.0/12'];
  const format = '{{(index .NetworkSettings.Networks "kind").IPAddress}}';
  const registry = (await run('docker', ['inspect', '--format', format, IMAGES_CONTAINER])).trim();
  const mirrors = await Promise.all(hubMirrors.map((url) => lookup(new URL(url).hostname, { family: 4 })));
  return [registry, ...mirrors.map(({ address }) => address)].filter(isIPv4).map((address) => `${address}/32`);
}
