import { BlockList, isIP } from 'node:net';
import { HostTimeoutError, SourceRefusedError, SourceUnreachableError } from '../errors.ts';
import { names } from './name-lookup.ts';
import { parseSshOrigin } from './ssh-origin.ts';

/**
 * Addresses to which a repository's origin must not resolve unless the administrator permits it: group members must not
 * reach the cluster's services, the node or the cloud's metadata service through Coppice (IANA special-purpose
 * registries). 168.63.129.16 is a public address, but is Azure's platform service on every machine there.
 */
const specialRanges = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '168.63.129.16/32',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/4',
  '240.0.0.0/4',
  '::/96',
  '::ffff:0:0:0/96',
  '100::/64',
  '2001::/32',
  '2001:db8::/32',
  '2002::/16',
  '5f00::/16',
  '64:ff9b:1::/48',
  '64:ff9b::/96',
  'fc00::/7',
  'fe80::/10',
  'fec0::/10',
  'ff00::/8',
];

function blockList(cidrs: readonly string[]): BlockList {
  const list = new BlockList();
  for (const cidr of cidrs) {
    const [address = '', bits = ''] = cidr.split('/');
    list.addSubnet(address, Number(bits), isIP(address) === 6 ? 'ipv6' : 'ipv4');
  }
  return list;
}

const special = blockList(specialRanges);

/** Returns the IPv4 address of ::ffff:a.b.c.d, which connects to a.b.c.d. */
function unmapped(address: string): string {
  return /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1] ?? address;
}

/** Returns a predicate for permitted addresses; `allowedCidrs` are exceptions from the refused ranges. */
export function addressGuard(allowedCidrs: readonly string[]): (address: string) => boolean {
  const allowed = blockList(allowedCidrs);
  return (address) => {
    const plain = unmapped(address);
    const family = isIP(plain) === 6 ? 'ipv6' : 'ipv4';
    return allowed.check(plain, family) || !special.check(plain, family);
  };
}

export interface PinnedOrigin {
  origin: string;
  /** The resolved and checked address; connections go only there. */
  address: string;
}

export type Lookup = (hostname: string) => Promise<{ address: string }[]>;

const ownLookup: Lookup = (hostname) => names.find(hostname);

export interface OriginRules {
  isAddressAllowed: (address: string) => boolean;
  /** Permitted TCP ports of origins over HTTP(S). */
  ports: readonly number[];
  /** Permitted TCP ports of origins over SSH. */
  sshPorts: readonly number[];
}

/**
 * Resolves the origin's host once and refuses forbidden addresses. Throws SourceRefusedError or SourceUnreachableError.
 */
export async function pinOrigin(
  origin: string,
  { isAddressAllowed, ports, sshPorts }: OriginRules,
  resolve: Lookup = ownLookup,
): Promise<PinnedOrigin> {
  const { hostname, port, isSsh } = endpointOf(origin);
  if (!(isSsh ? sshPorts : ports).includes(port)) {
    throw new SourceRefusedError(
      'AddressRefused',
      `the port ${port} is not permitted. ${isSsh ? permitSshPort : PERMIT_PORT}`,
    );
  }
  const addresses = isIP(hostname) ? [{ address: hostname }] : await resolveHost(hostname, resolve);
  const [first] = addresses;
  if (first === undefined) throw new SourceUnreachableError(`the host ${hostname} has no address`);
  if (!addresses.every(({ address }) => isAddressAllowed(address))) throw addressRefused(hostname);
  return { origin, address: first.address };
}

export const PERMIT_NETWORK = 'An administrator can permit its network (chart value sources.allowedCidrs)';
export const PERMIT_PORT = 'An administrator can permit it (chart value sources.ports)';
const permitSshPort = 'An administrator can permit it (chart value sources.sshPorts)';

/** Names without a dot, and names of the cluster's services and pods, with any cluster domain. */
const clusterNames = /^[^.]*$|\.cluster\.local$|\.(?:svc|pod)(?:\.|$)/i;
const notThere = new Set(['ENOTFOUND', 'ENODATA']);

/**
 * Returns whether this failure would reveal that the cluster has no such name: users must not learn which services
 * exist.
 */
export function isMissingInCluster(hostname: string, error: unknown): boolean {
  const code = error instanceof Error ? (error as NodeJS.ErrnoException).code : undefined;
  return notThere.has(code ?? '') && clusterNames.test(hostname.replace(/\.$/, ''));
}

/** Returns the same text for a forbidden address and for a name that does not exist in the cluster. */
export function notConnectedTo(host: string): string {
  return `${host} has a private or reserved address, which Coppice does not connect to, or its name is unknown in the cluster`;
}

function addressRefused(hostname: string): SourceRefusedError {
  return new SourceRefusedError('AddressRefused', `the host ${notConnectedTo(hostname)}. ${PERMIT_NETWORK}`);
}

/** Throws SourceRefusedError unless the origin uses HTTP(S) or SSH. */
function endpointOf(origin: string): { hostname: string; port: number; isSsh: boolean } {
  const ssh = parseSshOrigin(origin);
  if (ssh) return { hostname: ssh.host, port: ssh.port, isSsh: true };
  if (!/^https?:\/\//.test(origin) || !URL.canParse(origin)) {
    throw new SourceRefusedError(
      'Refused',
      'the origin is not a valid address: it must be an http://, https:// or ssh:// URL, or user@host:path',
    );
  }
  const url = new URL(origin);
  return { hostname: url.hostname.replace(/^\[|\]$/g, ''), port: portOf(url), isSsh: false };
}

/** Returns the URL's port, or the scheme's default. */
export function portOf({ port, protocol }: URL): number {
  return port === '' ? ({ 'http:': 80, 'https:': 443 }[protocol] ?? 0) : Number(port);
}

async function resolveHost(hostname: string, resolve: Lookup): Promise<{ address: string }[]> {
  try {
    return await resolve(hostname);
  } catch (error) {
    if (isMissingInCluster(hostname, error)) throw addressRefused(hostname);
    const message = `the host ${hostname} could not be resolved`;
    const isTimeout = error instanceof Error && 'code' in error && error.code === 'ETIMEOUT';
    throw isTimeout
      ? new HostTimeoutError(`${message} in time`)
      : new SourceUnreachableError(message, { cause: error });
  }
}
