import type { NetworkPolicy } from '../../kubernetes/resource-type.ts';

type Egress = NonNullable<NonNullable<NetworkPolicy['spec']>['egress']>[number];
export type Peer = NonNullable<Egress['to']>[number];

/** What an administrator decides of where environments and builds may connect to. */
export interface EgressSettings {
  /** Where DNS answers: pods of a namespace, of these labels where there are any, and networks. */
  dns: { namespace: string; podLabels: Record<string, string>; cidrs: string[]; ports: number[] };
  /** Whether public IPv6 addresses are reached. */
  ipv6: boolean;
  /** Networks that are not, beside the private ones. */
  exceptCidrs: string[];
}

export function podsOfNamespace(name: string): Peer {
  return { namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': name } } };
}

/** Lets pods ask for names. */
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

/** Networks of the cluster, and where the cloud's metadata service is. */
const privateIpv4 = [
  '10.0.0.0/8',
  '100.64.0.0/10',
  '168.63.129.16/32',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.168.0.0/16',
];

/** The same behind NAT64, which translates an IPv4 address inside of an IPv6 one, and IPv6's own private networks. */
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

/** Any public address. The chart's policy for builders has the same (`coppice.publicNetworks`). */
export function publicNetworks({ ipv6, exceptCidrs }: Pick<EgressSettings, 'ipv6' | 'exceptCidrs'>): Peer[] {
  const isIpv6 = (cidr: string) => cidr.includes(':');
  const except4 = [...privateIpv4, ...exceptCidrs.filter((cidr) => !isIpv6(cidr))];
  const except6 = [...privateIpv6, ...exceptCidrs.filter(isIpv6)];
  return [
    { ipBlock: { cidr: '0.0.0.0/0', except: except4 } },
    ...(ipv6 ? [{ ipBlock: { cidr: '::/0', except: except6 } }] : []),
  ];
}

/** An address and a port as URLs have them: those of IPv6 in brackets. */
export function hostPort(address: string, port: number): string {
  return `${address.includes(':') ? `[${address}]` : address}:${port}`;
}
