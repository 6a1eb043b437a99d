import { BlockList, isIPv4, isIPv6 } from 'node:net';

/**
 * Whose X-Forwarded-For is believed, as express asks: hop 0 is who is connected, each next one who stood before that.
 * @param count how many proxies stand before the API @param cidrs where the first of them is; empty: anywhere, which is
 * for networks that let nobody else connect
 */
export function trustedProxies(count: number, cidrs: readonly string[]): (address: string, hop: number) => boolean {
  const networks = new BlockList();
  for (const cidr of cidrs) {
    const [address = '', prefix] = cidr.split('/');
    networks.addSubnet(address, Number(prefix), isIPv4(address) ? 'ipv4' : 'ipv6');
  }
  const isProxy = (address: string) => {
    // As a socket that takes both kinds names an IPv4 address.
    const plain = address.replace(/^::ffff:(?=\d+\.)/i, '');
    return isIPv4(plain) ? networks.check(plain) : isIPv6(plain) && networks.check(plain, 'ipv6');
  };
  return (address, hop) => hop < count && (hop > 0 || cidrs.length === 0 || isProxy(address));
}
