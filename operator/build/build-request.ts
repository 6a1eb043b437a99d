import type { ResourceId } from '../../crds/ids.ts';
import type { NamedSecret } from '../../crds/named-secret.ts';
import type { RefPlace } from '../source/source.ts';
import type { LogSession } from './log-session.ts';
import type { PlannedImage } from './plan.ts';

export interface BuildRequest {
  namespace: string;
  labels: Record<string, string>;
  number: number;
  /** Of all builds of the installation this one alone: the environment's UID with the number. */
  buildId: string;
  /** Of the REST request that asked for it, where one did. */
  requestId: string | undefined;
  /** The Environment that is built. */
  environment: { name: string; uid: string };
  repository: ResourceId;
  /** Of this Repository alone, whatever others have had its name. */
  repositoryUid: string;
  /** Where the commit is fetched from; asks the Git host where that cannot be known without. */
  locate: () => Promise<RefPlace>;
  /** Secrets of the group's namespace with credentials for base images; the earlier ones count. */
  registrySecrets: readonly NamedSecret[];
  commit: string;
  /** Whether those wrote it who may push: otherwise it gets neither secrets nor credentials, and a place of its own. */
  trusted: boolean;
  /** Builds everything anew, and replaces no image that runs elsewhere. */
  noCache: boolean;
  images: readonly PlannedImage[];
  log: LogSession;
  /** Asks for another look after so many milliseconds, though nothing changes until then. */
  lookAgainIn: (ms: number) => void;
}

/** A line of Coppice's own in the build's log; once for each key. */
export async function note({ log }: Pick<BuildRequest, 'log'>, key: string, line: string): Promise<void> {
  await log.note(key, { service: '', stage: 'coppice', line });
}
