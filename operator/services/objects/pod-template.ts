import { LABELS } from '../../../crds/labels.ts';
import type { Deployment } from '../../../kubernetes/resource-type.ts';
import type { Service } from '../../../service-file/schema.ts';
import { WITHOUT_TOKEN } from '../../shared/pod-parts.ts';
import { platformLabels, scheduled, type Scheduling } from '../../shared/scheduling.ts';
import { connectionWatcher } from './connection-watcher.ts';
import { container } from './container.ts';
import type { WorkloadContext } from './input.ts';
import { mounts, namedVolumes } from './mounts.ts';
import { networkLabels } from './network-policies.ts';
import { stopping } from './stopping.ts';
import { claimName } from './volumes.ts';

export type PodTemplate = NonNullable<Deployment['spec']>['template'];
type PodSpec = NonNullable<PodTemplate['spec']>;

/**
 * Group of a pod's volumes and processes, whichever user the image or the service file sets. In Docker a volume gets
 * the owner of the image's folder, in Kubernetes it belongs to root. The same for all services, because services of
 * different users can share a volume.
 */
const volumeGroup = 20_000;

export interface PodOptions {
  /** How long a terminating pod still responds, in seconds; 0 if it receives no requests. */
  drainSeconds: number;
  restartPolicy?: 'Never';
  /** Ports whose connections are watched for visitors. */
  watchedPorts?: readonly number[];
}

/** Returns the pod template of a service, for its Deployment or Job. */
export function podTemplate(
  context: WorkloadContext,
  service: Service,
  { drainSeconds, restartPolicy, watchedPorts = [] }: PodOptions,
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
      ...WITHOUT_TOKEN,
      ...(restartPolicy && { restartPolicy }),
      terminationGracePeriodSeconds,
      imagePullSecrets: context.imagePullSecrets.map((name) => ({ name })),
      ...(service.hostname !== undefined && { hostname: service.hostname }),
      ...(service.init && { shareProcessNamespace: true }),
      ...(service.extraHosts.length > 0 && { hostAliases: service.extraHosts }),
      ...nodes(context, service),
      securityContext: podSecurity(service, volumes.length > 0),
      // The watcher is last, so that the service starts first.
      containers: [
        { ...container(context, service), ...(lifecycle && { lifecycle }) },
        ...watchers(context, watchedPorts),
      ],
      ...(volumes.length > 0 && { volumes }),
    },
  };
}

function watchers({ settings: { waker } }: WorkloadContext, ports: readonly number[]): PodSpec['containers'] {
  return waker && ports.length > 0 ? [connectionWatcher(waker.image, ports)] : [];
}

function podSecurity(service: Service, hasVolumes: boolean): PodSpec['securityContext'] {
  const { user, groups, sysctls } = service;
  return {
    seccompProfile: { type: 'RuntimeDefault' },
    ...(user && { runAsUser: user.uid, ...(user.gid !== undefined && { runAsGroup: user.gid }) }),
    ...(groups.length > 0 && { supplementalGroups: groups }),
    ...(hasVolumes && { fsGroup: volumeGroup, fsGroupChangePolicy: 'OnRootMismatch' }),
    // As in Docker: users other than root can listen on port 80.
    sysctls: Object.entries({ 'net.ipv4.ip_unprivileged_port_start': '0', ...sysctls })
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, value]) => ({ name, value })),
  };
}

/**
 * Returns where the pod can run: as the administrator configured, on its platform, and on the node of pods that share a
 * volume with it.
 */
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

/** Returns the label of pods that mount a volume, by the claim's name: they must all run on one node. */
export function claimLabel(claim: string): string {
  return `volume.coppice.dev/${claim.slice('volume-'.length)}`;
}

/**
 * Returns a service's labels as annotations with a prefix: other annotations of a pod control components of the
 * cluster, and service files are untrusted. Omits invalid keys.
 */
function podAnnotations({ labels }: Service): Record<string, string> {
  const allowed = Object.entries(labels).filter(([key]) => /^[a-z0-9A-Z]([-\w.]{0,61}[a-z0-9A-Z])?$/.test(key));
  return Object.fromEntries(allowed.map(([key, value]) => [`labels.coppice.dev/${key}`, value]));
}
