import type { Environment } from '../../../crds/environment.ts';
import type { BuildIdentity } from './identity.ts';

type Status = Environment['status'];

/**
 * How long a build waits for what its images do not need any more: for its Job to end once they are there, and once it
 * has ended for the last lines of its log.
 */
export const GRACE_PERIOD_MS = 30_000;

/** Until when a build of this Environment needs a builder, in ms since 1970: for ever while one builds images, or is about to. */
export function neededUntil({ status }: Environment): number {
  const isAboutTo = status?.activation?.active === true && status.activation.buildPending;
  return isAboutTo ? Infinity : builtUntil(status);
}

/** Until when this very build needs one. */
export function buildNeedsUntil(environment: Environment | undefined, build: BuildIdentity): number {
  if (environment?.metadata.uid !== build.environmentUid || environment.metadata.deletionTimestamp) return 0;
  return environment.status?.build?.number === build.number ? builtUntil(environment.status) : 0;
}

/** Once every image is in the registry, the build is about the services alone. */
function builtUntil(status: Status): number {
  const build = status?.build;
  if (build?.result !== 'running') return 0;
  if (build.images === undefined) return Infinity;
  return Date.parse(build.rolloutStartedAt ?? build.startedAt) + GRACE_PERIOD_MS;
}

/** When the last of these Environments' builds was over, in ms since 1970; 0 when none is known. */
export function lastUse(environments: readonly Environment[]): number {
  const times = environments.flatMap(({ status }) => {
    const time = status?.build?.finishedAt ?? status?.build?.rolloutStartedAt;
    return time === undefined ? [] : [Date.parse(time)];
  });
  return times.reduce((latest, time) => Math.max(latest, time), 0);
}
