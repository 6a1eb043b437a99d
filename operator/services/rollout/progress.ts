import type { Outlook } from '../diagnosis/certain-failure.ts';
import type { Termination } from '../diagnosis/service-diagnosis.ts';

/** One service, as the Environment's status reports it. */
export interface ServiceProgress {
  name: string;
  image?: string | undefined;
  /** Runs what it should; a job: has completed. */
  ready: boolean;
  /** How often its containers were started again; absent for never. */
  restarts?: number | undefined;
  /** How a container of it ended last; absent where none has. */
  lastTermination?: Termination | undefined;
  /** Why it is not ready, for people. */
  message?: string | undefined;
}

export interface SetUpServices {
  services: ServiceProgress[];
  /** The web address of each alias. */
  aliases: Record<string, string>;
}

export interface RolloutProgress extends SetUpServices {
  /** All services run what they should. */
  done: boolean;
  /** What keeps a service from becoming ready, as far as it is known; for people. */
  waitingFor: string[];
  /** Jobs that have failed, with their last words: no waiting brings them up. */
  failures: string[];
  /** When the last of the build's jobs has ended, or will at the latest; absent where none has started. */
  jobsEndAt?: Date | undefined;
  /** When it is certain that it does not become ready; absent where nothing is certain. */
  outlook?: Outlook | undefined;
}
