import type { EgressSettings } from '../network-peers.ts';

/** The chart's defaults. */
export const DEFAULT_EGRESS: EgressSettings = {
  dns: { namespace: 'kube-system', podLabels: {}, cidrs: [], ports: [53] },
  ipv6: false,
  exceptCidrs: [],
};
