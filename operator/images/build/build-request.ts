import { GRACE_PERIOD_MS } from '../builders/demand.ts';
import type { ResourceId } from '../../../crds/ids.ts';
import type { NamedSecret } from '../../../crds/named-secret.ts';
import type { RefLocation } from '../../source/git/source.ts';
import type { LogSession } from '../logs/log-session.ts';
import type { PlannedImage } from '../plan/image-plan.ts';

/** Another repository whose images a build contains. */
export interface IncludedSource {
  /** Name of the Repository, as in PlannedImage. */
  name: string;
  /** Part of its images' tags: others may have had the same name. */
  repositoryUid: string;
  /** Where the commit is fetched from, with the credentials of this repository. */
  location: RefLocation;
  commit: string;
}

export interface BuildRequest {
  namespace: string;
  labels: Record<string, string>;
  number: number;
  /** Unique in the installation: the environment's UID with the build's number. */
  buildId: string;
  /** ID of the REST request that started the build, if any. */
  requestId: string | undefined;
  /** The Environment being built. */
  environment: { name: string; uid: string };
  repository: ResourceId;
  /** UID of the Repository: others may have had the same name. */
  repositoryUid: string;
  /** Returns where the commit is fetched from; asks the Git host if necessary. */
  locate: () => Promise<RefLocation>;
  /** Secrets in the group's namespace with credentials for base images; earlier ones take precedence. */
  registrySecrets: readonly NamedSecret[];
  commit: string;
  /**
   * Whether only people with push access wrote the code. Otherwise the build gets no secrets or credentials, and a
   * separate location in the registry.
   */
  trusted: boolean;
  /** Builds without cache, and replaces no image that is used elsewhere. */
  noCache: boolean;
  images: readonly PlannedImage[];
  /** The other repositories that images are built from; absent if there are none. */
  included?: readonly IncludedSource[];
  log: LogSession;
}

/** Line of a log that ends without all that the build's containers wrote. */
export const UNREAD = `the last lines of this log are missing: they could not be read within ${GRACE_PERIOD_MS / 1000} s`;

/** Writes a line of Coppice's own into the build's log, once for each key. */
export async function note({ log }: Pick<BuildRequest, 'log'>, key: string, line: string): Promise<void> {
  await log.note(key, { service: '', stage: 'coppice', line });
}
