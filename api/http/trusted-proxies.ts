import { BlockList, isIPv4, isIPv6 } from 'node:net';

/**
 * Returns express's `trust proxy` function, which decides whose X-Forwarded-For is used: hop 0 is the peer of the
 * connection, each further hop the previous proxy.
 * @param count number of proxies in front of the API
 * @param cidrs networks of the first proxy; empty if no other client can connect
 */
export function trustedProxies(count: number, cidrs: readonly string[]): (address: string, hop: number) => boolean {
  const networks = new BlockList();
  for (const cidr of cidrs) {
    const [address = '', prefix] = cidr.split('/');
    networks.addSubnet(address, Number(prefix), isIPv4(address) ? 'ipv4' : 'ipv6');
  }
  const isProxy = (address: string) => {
    // A dual-stack socket reports IPv4 addresses in this form.
    const plain = address.replace(/^::ffff:(?=\d+\.)/i, '');
    return isIPv4(plain) ? networks.check(plain) : isIPv6(plain) && networks.check(plain, 'ipv6');
  };
  return (address, hop) => hop < count && (hop > 0 || cidrs.length === 0 || isProxy(address));
}
