import type { NetworkPolicy } from '../../kubernetes/resource-type.ts';

type Egress = NonNullable<NonNullable<NetworkPolicy['spec']>['egress']>[number];
export type Peer = NonNullable<Egress['to']>[number];

/** An administrator's settings for the destinations of environments and builds. */
export interface EgressSettings {
  /** Where DNS servers are: pods of a namespace, optionally with these labels, and networks. */
  dns: { namespace: string; podLabels: Record<string, string>; cidrs: string[]; ports: number[] };
  /** Whether public IPv6 addresses are permitted. */
  ipv6: boolean;
  /** Networks that are not permitted, in addition to private ones. */
  exceptCidrs: string[];
}

export function podsOfNamespace(name: string): Peer {
  return { namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': name } } };
}

/** Returns the egress rule for DNS. */
export function dnsEgress({ dns: { namespace, podLabels, cidrs, ports } }: EgressSettings): Egress {
  const hasLabels = Object.keys(podLabels).length > 0;
  const pods: Peer = { ...podsOfNamespace(namespace), ...(hasLabels && { podSelector: { matchLabels: podLabels } }) };
  return {
    to: [...(namespace === '' ? [] : [pods]), ...cidrs.map((cidr) => ({ ipBlock: { cidr } }))],
    ports: ports.flatMap((port) => [
      { protocol: 'UDP', port },
      { protocol: 'TCP', port },
    ]),
  };
}

/** Private networks, which include the cluster's, and addresses of cloud metadata services. */
const privateIpv4 = [
  '10.0.0.0/8',
  '100.64.0.0/10',
  '168.63.129.16/32',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.168.0.0/16',
];

/** The same networks behind NAT64, which embeds IPv4 addresses in IPv6 addresses, and private IPv6 networks. */
const privateIpv6 = [
  '64:ff9b::a00:0/104',
  '64:ff9b::6440:0/106',
  '64:ff9b::a83f:8110/128',
  '64:ff9b::a9fe:0/112',
  '64:ff9b::ac10:0/108',
  '64:ff9b::c0a8:0/112',
  '64:ff9b:1::/48',
  'fc00::/7',
  'fe80::/10',
];

/**
 * Returns the peers for any public address. The chart's policy for builders has the same ones
 * (`coppice.publicNetworks`).
 */
export function publicNetworks({ ipv6, exceptCidrs }: Pick<EgressSettings, 'ipv6' | 'exceptCidrs'>): Peer[] {
  const isIpv6 = (cidr: string) => cidr.includes(':');
  const except4 = [...privateIpv4, ...exceptCidrs.filter((cidr) => !isIpv6(cidr))];
  const except6 = [...privateIpv6, ...exceptCidrs.filter(isIpv6)];
  return [
    { ipBlock: { cidr: '0.0.0.0/0', except: except4 } },
    ...(ipv6 ? [{ ipBlock: { cidr: '::/0', except: except6 } }] : []),
  ];
}

/** IPv4 addresses of cloud metadata services. */
const metadataIpv4 = ['168.63.129.16/32', '169.254.0.0/16'];

/** Those of Amazon, Google, Oracle and Scaleway, which are private addresses, and the IPv4 ones behind NAT64. */
const metadataIpv6 = [
  '64:ff9b::a83f:8110/128',
  '64:ff9b::a9fe:0/112',
  'fd00:42::42/128',
  'fd00:c1::a9fe:a9fe/128',
  'fd00:ec2::/32',
  'fd20:ce::254/128',
  'fe80::/10',
];

/**
 * Returns the peers for any address, private ones included, except those of cloud metadata services, which return
 * machine credentials. The chart's policies have the same ones (`coppice.policyAnywhere`).
 */
export function anyAddress(): Peer[] {
  return [
    { ipBlock: { cidr: '0.0.0.0/0', except: metadataIpv4 } },
    { ipBlock: { cidr: '::/0', except: metadataIpv6 } },
  ];
}

/** Returns an address and a port in URL format: IPv6 addresses are in brackets. */
export function hostPort(address: string, port: number): string {
  return `${address.includes(':') ? `[${address}]` : address}:${port}`;
}
