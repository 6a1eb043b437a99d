import type { Outlook } from '../diagnosis/certain-failure.ts';
import type { Termination } from '../diagnosis/service-diagnosis.ts';

/** The service's settings in the service file that statuses show. */
export interface ServiceFacts {
  job?: true | undefined;
  built?: true | undefined;
  ports?: number[] | undefined;
  dependsOn?: string[] | undefined;
  addresses?: string[] | undefined;
}

/** One service in the Environment's status. */
export interface ServiceProgress extends ServiceFacts {
  name: string;
  image?: string | undefined;
  /** Whether the service runs as it should; for a job, whether it has completed. */
  ready: boolean;
  /** How often its containers were restarted; absent if never. */
  restarts?: number | undefined;
  /** How one of its containers last terminated; absent if none has. */
  lastTermination?: Termination | undefined;
  /** Why it is not ready. */
  message?: string | undefined;
}

export interface SetUpServices {
  services: ServiceProgress[];
  /** Web address of each alias. */
  aliases: Record<string, string>;
}

export interface StoppingServices extends SetUpServices {
  /** The services that have not stopped yet. */
  running: string[];
}

export interface RolloutProgress extends SetUpServices {
  /** Whether all services run as they should. */
  done: boolean;
  /** Known reasons why services are not ready. */
  waitingFor: string[];
  /** Whether requests of visitors reach the waker: to be watched, or until the services run. */
  wakers: 'none' | 'watching' | 'leaving';
  /** Failures of jobs, with their termination messages; waiting does not fix them. */
  failures: string[];
  /** When the last job of the build has ended or will be terminated; absent if none has started. */
  jobsEndAt?: Date | undefined;
  /** When the first restarted pod will have run long enough to count as ready; absent if none is to. */
  recoversAt?: Date | undefined;
  /** When it is certain that a service will not become ready; absent while unknown. */
  outlook?: Outlook | undefined;
}
