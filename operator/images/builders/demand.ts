import type { Environment } from '../../../crds/environment.ts';
import type { BuildIdentity } from './identity.ts';

type Status = Environment['status'];

/**
 * How long a build keeps its builder after its images exist: until its Job has ended, and then until the last lines of
 * its log are written. In milliseconds.
 */
export const GRACE_PERIOD_MS = 30_000;

/**
 * Returns until when a build of this Environment needs a builder, in ms since 1970; Infinity while images are built or
 * about to be.
 */
export function neededUntil({ status }: Environment): number {
  const isAboutTo = status?.activation?.active === true && status.activation.buildPending;
  return isAboutTo ? Infinity : builtUntil(status);
}

/** Returns until when this build needs a builder, in ms since 1970. */
export function buildNeedsUntil(environment: Environment | undefined, build: BuildIdentity): number {
  if (environment?.metadata.uid !== build.environmentUid || environment.metadata.deletionTimestamp) return 0;
  return environment.status?.build?.number === build.number ? builtUntil(environment.status) : 0;
}

/** Once all images are in the registry, the build only rolls out services. */
function builtUntil(status: Status): number {
  const build = status?.build;
  if (build?.result !== 'running') return 0;
  if (build.images === undefined) return Infinity;
  return Date.parse(build.rolloutStartedAt ?? build.startedAt) + GRACE_PERIOD_MS;
}

/** Returns when the last build of these Environments ended, in ms since 1970; 0 if none is known. */
export function lastUse(environments: readonly Environment[]): number {
  const times = environments.flatMap(({ status }) => {
    const time = status?.build?.finishedAt ?? status?.build?.rolloutStartedAt;
    return time === undefined ? [] : [Date.parse(time)];
  });
  return times.reduce((latest, time) => Math.max(latest, time), 0);
}
