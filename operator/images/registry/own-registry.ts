import { parseReference } from './reference.ts';

/** Returns a registry's host as every spelling of it reads: lower case, without a default port and the root's dot. */
export function canonicalHost(host: string): string {
  const [, name = '', port = ''] = /^(.*?)\.?(:\d+)?$/.exec(host.toLowerCase()) ?? [];
  return `${name}${port === ':443' || port === ':80' ? '' : port}`;
}

/**
 * Splits a registry's address, `host[:port][/path]`, the way image names start; the path is empty where there is none.
 */
export function splitAddress(address: string): { host: string; path: string } {
  const [host = '', ...path] = address.split('/');
  return { host, path: path.join('/') };
}

/** Reports whether an image's name leads into the registry at `address`, however its host is spelled. */
export function isInRegistry(address: string, image: string): boolean {
  const reference = parseReference(image);
  // A name that does not parse is compared as it is: refusing too much harms nobody.
  const [host = '', ...rest] = (reference ? `${reference.registry}/${reference.repository}` : image).split('/');
  const own = splitAddress(address);
  const prefix = own.path === '' ? '' : `${own.path.toLowerCase()}/`;
  return canonicalHost(host) === canonicalHost(own.host) && rest.join('/').toLowerCase().startsWith(prefix);
}

/** Returns the host of a registry's API: Docker Hub's has another name than its images. */
export function apiHost(host: string): string {
  return host === 'docker.io' ? 'registry-1.docker.io' : host;
}
