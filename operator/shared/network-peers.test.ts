import { BlockList } from 'node:net';
import { expect, test } from '@jest/globals';
import { anyAddress, dnsEgress, hostPort, publicNetworks } from './network-peers.ts';
import { DEFAULT_EGRESS } from './testing/default-egress.ts';

test('permits DNS at pods of a namespace, and at networks', () => {
  const namespaceSelector = { matchLabels: { 'kubernetes.io/metadata.name': 'openshift-dns' } };
  const dns = { namespace: 'openshift-dns', podLabels: { dns: 'default' }, cidrs: ['169.254.20.10/32'], ports: [5353] };
  expect(dnsEgress({ ...DEFAULT_EGRESS, dns })).toEqual({
    to: [
      { namespaceSelector, podSelector: { matchLabels: { dns: 'default' } } },
      { ipBlock: { cidr: '169.254.20.10/32' } },
    ],
    ports: [
      { protocol: 'UDP', port: 5353 },
      { protocol: 'TCP', port: 5353 },
    ],
  });
});

test('permits DNS at a resolver that is not a pod', () => {
  const dns = { namespace: '', podLabels: {}, cidrs: ['fd00::10/128'], ports: [53] };
  expect(dnsEgress({ ...DEFAULT_EGRESS, dns }).to).toEqual([{ ipBlock: { cidr: 'fd00::10/128' } }]);
});

test('permits public IPv4 addresses, and IPv6 if configured', () => {
  expect(publicNetworks(DEFAULT_EGRESS).map(({ ipBlock }) => ipBlock?.cidr)).toEqual(['0.0.0.0/0']);
});

test('permits no private network of IPv6, none through NAT64, and excludes each network in its own family', () => {
  const [ipv4, ipv6, ...others] = publicNetworks({ ipv6: true, exceptCidrs: ['2001:db8::/48', '192.0.2.0/24'] });
  expect(others).toEqual([]);
  expect(ipv4?.ipBlock?.except).toContain('192.0.2.0/24');
  expect(ipv4?.ipBlock?.except).not.toContain('2001:db8::/48');
  expect(ipv6?.ipBlock).toMatchObject({ cidr: '::/0' });
  expect(ipv6?.ipBlock?.except).toEqual(
    expect.arrayContaining(['2001:db8::/48', 'fc00::/7', 'fe80::/10', '64:ff9b::a00:0/104', '64:ff9b::a9fe:0/112']),
  );
});

test('permits any address except metadata services, also through NAT64', () => {
  const [ipv4, ipv6, ...others] = anyAddress().map(({ ipBlock }) => ipBlock);
  expect(others).toEqual([]);
  expect(ipv4).toEqual({ cidr: '0.0.0.0/0', except: ['168.63.129.16/32', '169.254.0.0/16'] });
  const refused = new BlockList();
  for (const network of ipv6?.except ?? []) {
    const [address = '', bits] = network.split('/');
    refused.addSubnet(address, Number(bits), 'ipv6');
  }
  const metadata = ['fd00:ec2::254', 'fd20:ce::254', 'fd00:c1::a9fe:a9fe', 'fd00:42::42', 'fe80::a9fe:a9fe'];
  for (const address of [...metadata, '64:ff9b::a9fe:a9fe', '64:ff9b::a83f:8110']) {
    expect([address, refused.check(address, 'ipv6')]).toEqual([address, true]);
  }
  for (const address of ['fd00::7', '2001:db8::1', '64:ff9b::a00:1'])
    expect(refused.check(address, 'ipv6')).toBe(false);
});

test('writes an IPv6 address in brackets before its port', () => {
  expect(hostPort('10.0.0.7', 1234)).toBe('10.0.0.7:1234');
  expect(hostPort('fd00::7', 1234)).toBe('[fd00::7]:1234');
});
