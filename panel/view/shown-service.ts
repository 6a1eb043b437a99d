import type { EnvironmentView } from '../api/types.ts';
import type { ShownState } from './shown-state.ts';

type Service = Pick<EnvironmentView['services'][number], 'ready' | 'message' | 'job'>;

/** Returns how the row of a service shows its state. A message says what is wrong, also while others wait or sleep. */
export function shownService(
  { ready, message, job }: Service,
  environment: { status: string; isAsleep: boolean },
): { state: ShownState; word: string } {
  if (ready) return { state: 'built', word: job === true ? 'completed' : 'ready' };
  const failed = { state: 'failed', word: 'not ready' } as const;
  if (message !== undefined) return failed;
  if (environment.isAsleep) return { state: 'asleep', word: 'asleep' };
  return environment.status === 'built' ? failed : { state: 'created', word: 'waiting' };
}
