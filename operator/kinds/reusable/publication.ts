import type { Environment, EnvironmentStatus } from '../../../crds/environment.ts';
import type { BuildStatus } from '../../../crds/environment-build.ts';
import type { Repository } from '../../../crds/repository.ts';
import type { ReusableEnvironment, ReusableEnvironmentStatus } from '../../../crds/reusable-environment.ts';
import type { Service, ServiceFile } from '../../../service-file/schema.ts';
import { namedVolumes } from '../../services/objects/mounts.ts';
import { copyId } from './names.ts';

/** Returns why an environment is not published although its service file requests it; undefined if it is. */
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

/** Returns an ID that differs for each build of each environment's contents. */
export function publicationId(uid: string, namespaceUid: string, build: number): string {
  return copyId(uid, namespaceUid, build);
}

/** Returns whether a finished build's publication has not been made or given up yet. */
export function isPublicationDue(
  { publication }: Pick<EnvironmentStatus, 'publication'>,
  label: string,
  { number }: BuildStatus,
): boolean {
  return publication?.build !== number || publication.label !== label || publication.result === 'running';
}

/** Returns whether a publication is newer: of two with one label the later build counts, whichever was copied first. */
export function isNewer(status: ReusableEnvironmentStatus | undefined, builtAt: string): boolean {
  return status?.builtAt === undefined || Date.parse(status.builtAt) <= Date.parse(builtAt);
}

/**
 * Returns the services to stop while volumes are copied, because files written meanwhile could be inconsistent.
 * Services that only read are stopped too, so that a volume without pods is known not to be written.
 */
export function servicesToStop({ services }: ServiceFile): Set<string> {
  return new Set(withVolumes(services).map(({ name }) => name));
}

/**
 * Returns how long pods may keep using volumes after services were stopped: the rollout's deadline after the longest
 * grace period, in seconds.
 */
export function stoppingLimitSeconds({ services }: ServiceFile, rolloutDeadlineSeconds: number): number {
  const grace = withVolumes(services).map(({ stopGracePeriodSeconds }) => stopGracePeriodSeconds);
  return rolloutDeadlineSeconds + Math.max(0, ...grace);
}

function withVolumes(services: readonly Service[]): Service[] {
  return services.filter((service) => service.runs === 'continuously' && namedVolumes(service).length > 0);
}

/** A claim of published volumes, and the state of its publication: `over` if nothing will use it any more. */
export interface StoredClaim<T> {
  claim: T;
  builtAt: string;
  publication: 'running' | 'succeeded' | 'over';
}

/** Returns the claims that a newer publication has replaced or that none will use, and those to check again. */
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

/** Returns the state of the publication that a claim was created for, from the existing environment of its name. */
export function publicationOf(
  environment: Environment | undefined,
  uid: string | undefined,
): StoredClaim<never>['publication'] {
  if (environment?.metadata.uid !== uid || environment?.metadata.deletionTimestamp !== undefined) return 'over';
  const { result } = environment?.status?.publication ?? {};
  return result === 'running' || result === 'succeeded' ? result : 'over';
}
