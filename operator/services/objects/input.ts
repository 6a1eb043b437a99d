import type { ResourceId } from '../../../crds/ids.ts';
import type { Service, ServiceFile } from '../../../service-file/schema.ts';
import type { Scheduling } from '../../shared/scheduling.ts';

/** One environment's services, as they are to run. */
export interface WorkloadInput {
  /** The environment's own namespace. */
  namespace: string;
  /** On every object, and on every pod. */
  labels: Record<string, string>;
  id: ResourceId;
  serviceFile: ServiceFile;
  /** The image of every service that is built. */
  images: ReadonlyMap<string, string>;
  /** Differs for every build: jobs run once for each. */
  run: string;
  /** Secrets with registries' credentials, to pull with. */
  imagePullSecrets: readonly string[];
  now: Date;
  /** When the build that is rolled out started to be; absent where none is. */
  rolloutSince?: Date | undefined;
}

/** What an administrator decides for the services of all environments. */
export interface WorkloadSettings {
  /** Environments answer at `<label>.<host>` of this; over TLS when it is https. */
  environmentsUrl: URL;
  ingress: {
    className?: string | undefined;
    /** Where the Ingress controller runs: its pods may reach what is public. */
    namespace: string;
    /** Networks that it connects from besides. */
    cidrs?: string[];
    annotations: Record<string, string>;
    /** cert-manager's, for a certificate of each environment's own; without one the controller's default one serves. */
    clusterIssuer?: string | undefined;
    /** How long a pod that goes away still answers, until the Ingress controller has taken it out. */
    drainSeconds: number;
  };
  /** Where the pods run. */
  scheduling?: Scheduling;
  /** For volumes that name none. */
  volumes: { size: string; storageClass?: string | undefined };
  /** How long a job may take, from its start. */
  jobDeadlineSeconds: number;
  /** What containers that name none get: the namespace's LimitRange says the same. */
  defaultRequests: Record<string, string>;
  defaultLimits: Record<string, string>;
}

export type WorkloadContext = WorkloadInput & { settings: WorkloadSettings };

export function isJob({ runs }: Service): boolean {
  return runs !== 'continuously';
}

/** The image that a service runs: built, named, or that of the service it is a job of. */
export function imageOf({ images, serviceFile }: WorkloadInput, service: Service): string | undefined {
  const origin = serviceFile.services.find(({ name }) => name === service.imageOf) ?? service;
  return images.get(origin.name) ?? origin.image;
}
