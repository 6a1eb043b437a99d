import type { OperatorConfig } from '../config.ts';
import type { EgressSettings } from '../shared/network-peers.ts';

/** The settings that the cluster must meet. */
export interface CheckSettings {
  ingress: Pick<OperatorConfig['ingress'], 'className' | 'namespace' | 'cidrs' | 'parentRefs'>;
  dns: EgressSettings['dns'];
  egress: Pick<EgressSettings, 'ipv6' | 'exceptCidrs'>;
  /** Private networks that builds can reach. */
  privateEgress: readonly string[];
  /** Names of StorageClasses by the chart value that sets them; undefined means the cluster's default. */
  storageClasses: Readonly<Record<string, string | undefined>>;
  registry: string;
}

/** Returns the settings of the operator's configuration that depend on the cluster. */
export function checkSettings({ ingress, egress, registry, environments, builder }: OperatorConfig): CheckSettings {
  return {
    ingress,
    dns: egress.dns,
    egress,
    privateEgress: registry.allowedCidrs,
    storageClasses: {
      'environments.volumes.storageClass': environments.volumes.storageClass,
      'builder.cache.storageClass': builder.cache.storageClass,
    },
    registry: registry.address,
  };
}
