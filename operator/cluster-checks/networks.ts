import { BlockList, isIP } from 'node:net';

/** Returns whether an address, or the first one of a network, is in one of the networks. */
export function isWithin(address: string, networks: readonly string[]): boolean {
  const list = new BlockList();
  for (const network of networks) {
    const [start = '', bits] = network.split('/');
    list.addSubnet(start, Number(bits), familyOf(start));
  }
  const [first = ''] = address.split('/');
  return isIP(first) !== 0 && list.check(first, familyOf(first));
}

/** Returns whether two networks have an address in common. */
export function overlap(one: string, other: string): boolean {
  return isWithin(one, [other]) || isWithin(other, [one]);
}

function familyOf(address: string): 'ipv4' | 'ipv6' {
  return isIP(address) === 6 ? 'ipv6' : 'ipv4';
}
