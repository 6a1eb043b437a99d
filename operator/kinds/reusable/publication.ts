import type { BuildStatus, Environment, EnvironmentStatus } from '../../../crds/environment.ts';
import type { Repository } from '../../../crds/repository.ts';
import type { ReusableEnvironment, ReusableEnvironmentStatus } from '../../../crds/reusable-environment.ts';
import type { Service, ServiceFile } from '../../../service-file/schema.ts';
import { namedVolumes } from '../../services/objects/mounts.ts';
import { copyId } from './names.ts';

/** Why an environment whose service file says so is not published; undefined where it is. */
export function publicationRefusal(
  label: string,
  { gitRef }: Pick<Environment['spec'], 'gitRef'>,
  isTrusted: boolean,
  settings: Repository['spec']['reusable'],
): { reason: string; message: string } | undefined {
  if (!isTrusted) {
    return { reason: 'NotTrusted', message: `${label} is not published: its code may come from a fork` };
  }
  const refs = settings?.find((one) => one.label === label)?.refs ?? [];
  if (refs.some(({ name, type }) => name === gitRef.name && type === gitRef.type)) return undefined;
  const message = `${label} is not published: the Repository does not let the ${gitRef.type} ${gitRef.name} publish it. Add it to spec.reusable`;
  return { reason: 'RefNotNamed', message };
}

/** Differs for each build of each environment's contents. */
export function publicationId(uid: string, namespaceUid: string, build: number): string {
  return copyId(uid, namespaceUid, build);
}

/** Whether a finished build's publication is still to be made, or to be ended. */
export function isPublicationDue(
  { publication }: Pick<EnvironmentStatus, 'publication'>,
  label: string,
  { number }: BuildStatus,
): boolean {
  return publication?.build !== number || publication.label !== label || publication.result === 'running';
}

/** Of two publications of one label the later build's counts, whichever was copied sooner. */
export function isNewer(status: ReusableEnvironmentStatus | undefined, builtAt: string): boolean {
  return status?.builtAt === undefined || Date.parse(status.builtAt) <= Date.parse(builtAt);
}

/**
 * The services that are stopped while volumes are copied: files that are written to meanwhile would not fit each other.
 * Those that only read are too, so that a volume that no pod has is known to be written to by none.
 */
export function servicesToStop({ services }: ServiceFile): Set<string> {
  return new Set(withVolumes(services).map(({ name }) => name));
}

/** How long pods may still have volumes once services are stopped: as a rollout has, after the longest grace period. */
export function stoppingLimitSeconds({ services }: ServiceFile, rolloutDeadlineSeconds: number): number {
  const grace = withVolumes(services).map(({ stopGracePeriodSeconds }) => stopGracePeriodSeconds);
  return rolloutDeadlineSeconds + Math.max(0, ...grace);
}

function withVolumes(services: readonly Service[]): Service[] {
  return services.filter((service) => service.runs === 'continuously' && namedVolumes(service).length > 0);
}

/** A claim of the store, and how far what it is made for has come: `over` when nothing will name it any more. */
export interface StoredClaim<T> {
  claim: T;
  builtAt: string;
  publication: 'running' | 'succeeded' | 'over';
}

/**
 * The claims of the store that a newer publication has taken the place of, or that none will have; and those to be
 * reconciled again.
 */
export function supersededClaims<T extends { metadata: { name: string } }>(
  claims: readonly StoredClaim<T>[],
  { status }: Pick<ReusableEnvironment, 'status'>,
  inUse: ReadonlySet<string>,
): { gone: T[]; awaited: T[] } {
  const named = new Set(status?.volumes?.map(({ claim }) => claim));
  const unnamed = claims.filter(({ claim }) => !named.has(claim.metadata.name));
  const isOld = ({ builtAt, publication }: StoredClaim<T>) =>
    publication === 'over' || (status?.builtAt !== undefined && isNewer({ builtAt }, status.builtAt));
  const isAwaited = (one: StoredClaim<T>) =>
    isOld(one) ? inUse.has(one.claim.metadata.name) : one.publication === 'running';
  return {
    gone: unnamed.filter((one) => isOld(one) && !isAwaited(one)).map(({ claim }) => claim),
    awaited: unnamed.filter(isAwaited).map(({ claim }) => claim),
  };
}

/** How far the publication that a claim was made for has come, by the environment that is there of the name. */
export function publicationOf(
  environment: Environment | undefined,
  uid: string | undefined,
): StoredClaim<never>['publication'] {
  if (environment?.metadata.uid !== uid || environment?.metadata.deletionTimestamp !== undefined) return 'over';
  const { result } = environment?.status?.publication ?? {};
  return result === 'running' || result === 'succeeded' ? result : 'over';
}
