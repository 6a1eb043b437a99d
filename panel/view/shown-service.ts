import type { EnvironmentView } from '../api/types.ts';
import type { ShownState } from './shown-state.ts';

type Service = Pick<
  EnvironmentView['services'][number],
  'ready' | 'message' | 'job' | 'restarts' | 'lastTermination' | 'dependsOn'
>;

/** What the row of a service also depends on. */
export interface ServiceSurroundings {
  status: EnvironmentView['status'];
  isAsleep: boolean;
  /** Whether the contents are being deleted. */
  isRemoving: boolean;
  /** Since when its services have been starting, in Unix seconds; undefined if they are not. */
  startingSince: number | undefined;
  /** In Unix seconds. */
  now: number;
  /** Names of the services that are ready. */
  ready: ReadonlySet<string>;
}

/** A service that starts and reports a problem for longer than this is shown as a failure, in seconds. */
const slowStart = 60;

/** Returns how the row of a service shows its state. A start is not a failure before its time. */
export function shownService(
  service: Service,
  { status, isAsleep, isRemoving, startingSince, now, ready }: ServiceSurroundings,
): { state: ShownState; word: string } {
  const { message, job, dependsOn = [] } = service;
  if (isRemoving) return { state: 'deleting', word: 'being deleted' };
  if (service.ready) return { state: 'built', word: job === true ? 'completed' : 'ready' };
  const failed = { state: 'failed', word: 'not ready' } as const;
  if (isAsleep) return message === undefined ? { state: 'asleep', word: 'asleep' } : failed;
  if (startingSince !== undefined) {
    if (hasCrashed(service)) return failed;
    if (dependsOn.some((name) => !ready.has(name))) return { state: 'created', word: 'waiting' };
    if (message !== undefined && now - startingSince > slowStart) return failed;
    return { state: 'building', word: 'starting' };
  }
  return status === 'built' ? failed : { state: 'created', word: 'waiting' };
}

/** The pods of a new version have no restarts of the version before. */
function hasCrashed({ restarts, lastTermination }: Service): boolean {
  return restarts > 0 && lastTermination !== undefined && lastTermination.exitCode !== 0;
}

/** Returns since when the services of an environment have been starting: after a build, or after a sleep. */
export function startingSince({
  removing,
  build,
  conditions,
}: Pick<EnvironmentView, 'removing' | 'build' | 'conditions'>): number | undefined {
  if (removing === true) return undefined;
  if (build?.result === 'running') return build.stages?.find(({ name }) => name === 'rollout')?.startedAt;
  return conditions.find(({ type, reason }) => type === 'Ready' && reason === 'Waking')?.since;
}
