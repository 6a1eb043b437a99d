import type { EgressSettings } from '../network-peers.ts';

/** As the chart has it by default. */
export const defaultEgress: EgressSettings = {
  dns: { namespace: 'kube-system', podLabels: {}, cidrs: [], ports: [53] },
  ipv6: false,
  exceptCidrs: [],
};
