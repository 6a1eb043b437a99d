import type { AccessMode } from '../../../crds/access.ts';
import type { ParentReference } from '../../../kubernetes/resource-type.ts';
import type { ResourceId } from '../../../crds/ids.ts';
import type { Service, ServiceFile } from '../../../service-file/schema.ts';
import type { Scheduling } from '../../shared/scheduling.ts';
import type { AccessEnforcement } from './access-enforcement.ts';
import type { HiddenValues } from './hidden-values.ts';

/** The services of one environment, as they are to run. */
export interface WorkloadInput {
  /** The environment's own namespace. */
  namespace: string;
  /** Labels of every object and pod. */
  labels: Record<string, string>;
  id: ResourceId;
  /** Who can open the web addresses. */
  access: AccessMode;
  serviceFile: ServiceFile;
  /** Images of the services that are built, by service. */
  images: ReadonlyMap<string, string>;
  /** The variables that Coppice sets in every container; absent if an older Coppice planned the services. */
  own?: Readonly<Record<string, string>> | undefined;
  /** Texts that pods take from an existing Secret, by service. */
  hidden: ReadonlyMap<string, HiddenValues>;
  /**
   * Whether visits are watched for: Ingresses then lead to ports of their own, which the pods serve (`direct`), or the
   * waker alone (`watched`). Absent where nobody asks for visits.
   */
  visits?: 'direct' | 'watched' | undefined;
  /** Changes with every build, so that jobs run once per build. */
  run: string;
  /** Names of Secrets with registry credentials for pulling images. */
  imagePullSecrets: readonly string[];
  now: Date;
  /** When the rollout of the build was requested; absent without a rollout. */
  rolloutSince?: Date | undefined;
}

/** An administrator's settings for the services of all environments. */
export interface WorkloadSettings {
  /** Base of the environments' addresses, `<label>.<host>`; over TLS if it is https. */
  environmentsUrl: URL;
  ingress: {
    className?: string | undefined;
    /** Namespace of the Ingress controller, whose pods can connect to public services. */
    namespace: string;
    /** Additional networks from which the Ingress controller connects. */
    cidrs?: string[];
    /** Gateways that HTTPRoutes attach to; without any, there is an Ingress. */
    parentRefs?: ParentReference[];
    annotations: Record<string, string>;
    /** What asks the API about each request to restricted environments; absent if nothing does. */
    enforcement?: AccessEnforcement | undefined;
    /**
     * Issuer of cert-manager for a certificate per environment; without it, the Ingress controller's default
     * certificate is used.
     */
    clusterIssuer?: string | undefined;
    /**
     * How long a terminating pod still responds, in seconds, until the Ingress controller stops sending requests to it.
     */
    drainSeconds: number;
  };
  /** Pods of the waker, which receives requests for sleeping environments; absent if there is none. */
  waker?: { namespace: string; podLabels: Record<string, string>; image: string } | undefined;
  /** Where the pods run. */
  scheduling?: Scheduling;
  /** Defaults for volumes. */
  volumes: { size: string; storageClass?: string | undefined };
  /** Maximum duration of a job in seconds, from its start. */
  jobDeadlineSeconds: number;
  /** Resources of containers that set none, as in the namespace's LimitRange. */
  defaultRequests: Record<string, string>;
  defaultLimits: Record<string, string>;
}

export type WorkloadContext = WorkloadInput & { settings: WorkloadSettings };

export function isJob({ runs }: Service): boolean {
  return runs !== 'continuously';
}

/** Returns a service's image: the built one, the named one, or that of the service that it is a job of. */
export function imageOf({ images, serviceFile }: WorkloadInput, service: Service): string | undefined {
  const origin = serviceFile.services.find(({ name }) => name === service.imageOf) ?? service;
  return images.get(origin.name) ?? origin.image;
}
