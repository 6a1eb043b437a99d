import { isIP } from 'node:net';
import { addressGuard } from '../network/addresses.ts';

const isPublicAddress = addressGuard([]);
/** Names that resolve differently, or not at all, outside the network or machine (RFC 6761, 6762, 8375, 9476). */
const localNames = /(^|\.)(localhost|local|internal|home\.arpa|test|invalid|cluster\.local|svc)$/;

/**
 * Returns whether a Git host at one address can deliver to an API at the other: hosts on the internet cannot reach
 * private addresses.
 */
export function canReach(host: URL, api: URL): boolean {
  return !isLocal(api) || isLocal(host);
}

function isLocal({ hostname }: URL): boolean {
  const name = hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '');
  if (isIP(name) !== 0) return !isPublicAddress(name);
  return !name.includes('.') || localNames.test(name);
}
