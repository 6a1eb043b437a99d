import type { Environment } from '../../crds/environment.ts';
import type { BuildIdentity } from './identity.ts';

/** Whether a build of this Environment needs a builder now, or is about to. */
export function needsBuilder({ status }: Environment): boolean {
  return (status?.activation?.active && status.activation.buildPending) || isBuildingImages(status);
}

/** Once every image is in the registry, the build is about the services alone. */
function isBuildingImages(status: Environment['status']): boolean {
  return status?.build?.result === 'running' && status.build.images === undefined;
}

/** Whether it is this very build that needs one. */
export function isUnderWay(environment: Environment | undefined, { environmentUid, number }: BuildIdentity): boolean {
  if (environment?.metadata.uid !== environmentUid || environment.metadata.deletionTimestamp) return false;
  return environment.status?.build?.number === number && isBuildingImages(environment.status);
}

/** When the last of these Environments' builds was over, in ms since 1970; 0 when none is known. */
export function lastUse(environments: readonly Environment[]): number {
  const times = environments.flatMap(({ status }) => {
    const time = status?.build?.finishedAt ?? status?.build?.rolloutStartedAt;
    return time === undefined ? [] : [Date.parse(time)];
  });
  return times.reduce((latest, time) => Math.max(latest, time), 0);
}
