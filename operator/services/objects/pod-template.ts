import { LABELS } from '../../../crds/labels.ts';
import type { Deployment } from '../../../kubernetes/resource-type.ts';
import type { Service } from '../../../service-file/schema.ts';
import { withoutToken } from '../../shared/pod-parts.ts';
import { platformLabels, scheduled, type Scheduling } from '../../shared/scheduling.ts';
import { container } from './container.ts';
import type { WorkloadContext } from './input.ts';
import { mounts, namedVolumes } from './mounts.ts';
import { networkLabels } from './network-policies.ts';
import { stopping } from './stopping.ts';
import { claimName } from './volumes.ts';

export type PodTemplate = NonNullable<Deployment['spec']>['template'];
type PodSpec = NonNullable<PodTemplate['spec']>;

/**
 * The group that a pod's volumes belong to, and its processes with them, whoever the image or the service file says
 * that they run as: in Docker a volume takes over the owner of the image's folder, in Kubernetes it is root's. The same
 * for all, for services of different users may share a volume.
 */
const volumeGroup = 20_000;

export interface PodOptions {
  /** How long the pod still answers when it is given up; 0 where nothing is led to it. */
  drainSeconds: number;
  restartPolicy?: 'Never';
}

/** The pod of a service: for its Deployment, or its Job. */
export function podTemplate(
  context: WorkloadContext,
  service: Service,
  { drainSeconds, restartPolicy }: PodOptions,
): PodTemplate {
  const { lifecycle, terminationGracePeriodSeconds } = stopping(service, drainSeconds);
  const { volumes } = mounts(context, service);
  const annotations = podAnnotations(service);
  return {
    metadata: {
      labels: {
        ...context.labels,
        [LABELS.service]: service.name,
        ...networkLabels(service),
        ...Object.fromEntries(namedVolumes(service).map((volume) => [volumeLabel(volume), 'true'])),
      },
      ...(Object.keys(annotations).length > 0 && { annotations }),
    },
    spec: {
      ...withoutToken,
      ...(restartPolicy && { restartPolicy }),
      terminationGracePeriodSeconds,
      imagePullSecrets: context.imagePullSecrets.map((name) => ({ name })),
      ...(service.hostname !== undefined && { hostname: service.hostname }),
      ...(service.init && { shareProcessNamespace: true }),
      ...(service.extraHosts.length > 0 && { hostAliases: service.extraHosts }),
      ...nodes(context, service),
      securityContext: podSecurity(service, volumes.length > 0),
      containers: [{ ...container(context, service), ...(lifecycle && { lifecycle }) }],
      ...(volumes.length > 0 && { volumes }),
    },
  };
}

function podSecurity(service: Service, hasVolumes: boolean): PodSpec['securityContext'] {
  const { user, groups, sysctls } = service;
  return {
    seccompProfile: { type: 'RuntimeDefault' },
    ...(user && { runAsUser: user.uid, ...(user.gid !== undefined && { runAsGroup: user.gid }) }),
    ...(groups.length > 0 && { supplementalGroups: groups }),
    ...(hasVolumes && { fsGroup: volumeGroup, fsGroupChangePolicy: 'OnRootMismatch' }),
    // As Docker does: who is not root may listen on port 80 too.
    sysctls: Object.entries({ 'net.ipv4.ip_unprivileged_port_start': '0', ...sysctls })
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, value]) => ({ name, value })),
  };
}

/** Where the pod may run: where the administrator lets it, on its platform, and beside those that it shares a volume with. */
function nodes({ settings }: WorkloadContext, service: Service): Scheduling {
  return scheduled(settings.scheduling, {
    nodeSelector: platformLabels(service.platform),
    podAffinity: namedVolumes(service).map((volume) => ({
      topologyKey: 'kubernetes.io/hostname',
      labelSelector: { matchLabels: { [volumeLabel(volume)]: 'true' } },
    })),
  });
}

function volumeLabel(volume: string): string {
  return claimLabel(claimName(volume));
}

/** On the pods that mount a volume, by its claim's name: all of them run on one node. */
export function claimLabel(claim: string): string {
  return `volume.coppice.dev/${claim.slice('volume-'.length)}`;
}

/**
 * A service's labels, below a prefix of ours: other annotations of a pod steer what runs in the cluster, and a service
 * file comes from strangers. Keys that are not annotation's name are left out.
 */
function podAnnotations({ labels }: Service): Record<string, string> {
  const allowed = Object.entries(labels).filter(([key]) => /^[a-z0-9A-Z]([-\w.]{0,61}[a-z0-9A-Z])?$/.test(key));
  return Object.fromEntries(allowed.map(([key, value]) => [`labels.coppice.dev/${key}`, value]));
}
