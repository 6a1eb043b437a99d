import { isIP } from 'node:net';
import { addressGuard } from '../network/addresses.ts';

const isPublicAddress = addressGuard([]);
/** Names that stand for another place, or for none, outside of the network or the machine (RFC 6761, 6762, 8375, 9476). */
const localNames = /(^|\.)(localhost|local|internal|home\.arpa|test|invalid|cluster\.local|svc)$/;

/** Whether a Git host at one address can deliver to an API at the other: from the internet nothing private is reached. */
export function canReach(host: URL, api: URL): boolean {
  return !isLocal(api) || isLocal(host);
}

function isLocal({ hostname }: URL): boolean {
  const name = hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '');
  if (isIP(name) !== 0) return !isPublicAddress(name);
  return !name.includes('.') || localNames.test(name);
}
