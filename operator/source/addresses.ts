import { lookup } from 'node:dns/promises';
import { BlockList, isIP } from 'node:net';
import { SourceRefusedError, SourceUnreachableError } from './errors.ts';

/**
 * Addresses that a repository's origin may not lead to unless the administrator allows them: a group member must not
 * reach the cluster's own services, the node or the cloud's metadata through Coppice (IANA special-purpose registries).
 */
const specialRanges = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '224.0.0.0/4',
  '240.0.0.0/4',
  '::/127',
  '2001::/32',
  '2002::/16',
  '64:ff9b:1::/48',
  '64:ff9b::/96',
  'fc00::/7',
  'fe80::/10',
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

/** ::ffff:a.b.c.d reaches a.b.c.d, so it is judged as that. */
function unmapped(address: string): string {
  return /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1] ?? address;
}

/** A predicate for addresses; `allowedCidrs` are taken out of what is refused. */
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
  /** The address that the name led to when it was checked; the connection goes there and nowhere else. */
  address: string;
}

export type Lookup = (hostname: string) => Promise<{ address: string }[]>;

const systemLookup: Lookup = (hostname) => lookup(hostname, { all: true });

export interface OriginRules {
  isAddressAllowed: (address: string) => boolean;
  /** TCP ports that an origin may name. */
  ports: readonly number[];
}

/** Resolves the origin's host once and refuses it when it leads to a forbidden address. */
export async function pinOrigin(
  origin: string,
  { isAddressAllowed, ports }: OriginRules,
  resolve: Lookup = systemLookup,
): Promise<PinnedOrigin> {
  if (!URL.canParse(origin)) throw new SourceRefusedError('Refused', 'the origin is not a valid URL');
  const port = portOf(new URL(origin));
  if (!ports.includes(port)) {
    throw new SourceRefusedError(
      'AddressRefused',
      `the port ${port} is none that Coppice connects to; an administrator can allow it (chart value sources.ports)`,
    );
  }
  const hostname = new URL(origin).hostname.replace(/^\[|\]$/g, '');
  const addresses = isIP(hostname) ? [{ address: hostname }] : await resolveHost(hostname, resolve);
  const [first] = addresses;
  if (first === undefined) throw new SourceUnreachableError(`the host ${hostname} has no address`);
  if (!addresses.every(({ address }) => isAddressAllowed(address))) {
    throw new SourceRefusedError(
      'AddressRefused',
      `the host ${hostname} is at a private or reserved address, which Coppice does not connect to; ` +
        'an administrator can allow its network (chart value sources.allowedCidrs)',
    );
  }
  return { origin, address: first.address };
}

/** The URL's port, also where it is the scheme's own. */
export function portOf({ port, protocol }: URL): number {
  return port === '' ? ({ 'http:': 80, 'https:': 443 }[protocol] ?? 0) : Number(port);
}

async function resolveHost(hostname: string, resolve: Lookup): Promise<{ address: string }[]> {
  try {
    return await resolve(hostname);
  } catch (error) {
    throw new SourceUnreachableError(`the host ${hostname} could not be resolved`, { cause: error });
  }
}
