import { parseReference } from './reference.ts';

/** Other hosts at which Docker Hub serves the same images. */
const hubAliases = ['index.docker.io', 'registry-1.docker.io'];

/**
 * Returns a registry's host in its canonical form: lower case, without a trailing dot, a default port and leading zeros
 * of a port; one name for Docker Hub.
 */
export function canonicalHost(host: string): string {
  const [, name = '', port = ''] = /^(.*?)\.?(?::0*(\d+))?$/.exec(host.toLowerCase()) ?? [];
  return `${hubAliases.includes(name) ? 'docker.io' : name}${['', '443', '80'].includes(port) ? '' : `:${port}`}`;
}

/** Returns the names of a canonical host. */
export function namesOfHost(name: string): string[] {
  return name === 'docker.io' ? [name, ...hubAliases] : [name];
}

/** Splits a registry's address, `host[:port][/path]`, like an image name; the path is empty if there is none. */
export function splitAddress(address: string): { host: string; path: string } {
  const [host = '', ...path] = address.split('/');
  return { host, path: path.join('/') };
}

/** Returns whether an image's name is in the registry at `address`, however its host is spelled. */
export function isInRegistry(address: string, image: string): boolean {
  const reference = parseReference(image);
  // An invalid name is compared unchanged: refusing too much is harmless.
  const [host = '', ...rest] = (reference ? `${reference.registry}/${reference.repository}` : image).split('/');
  const own = splitAddress(address);
  const prefix = own.path === '' ? '' : `${own.path.toLowerCase()}/`;
  return canonicalHost(host) === canonicalHost(own.host) && rest.join('/').toLowerCase().startsWith(prefix);
}

/** Returns the host of a registry's API; Docker Hub's API has another host than its images. */
export function apiHost(host: string): string {
  return host === 'docker.io' ? 'registry-1.docker.io' : host;
}
