import type { Health, Status } from '../api/items.ts';

/** What a badge shows: the state, unless something is wrong. Each has a word, an icon and a colour. */
export type ShownState = 'built' | 'building' | 'created' | 'empty' | 'failed' | 'degraded' | 'asleep';

/** Returns what a badge shows. */
export function shownState({ status, health }: { status: Status; health?: Health | undefined }): ShownState {
  if (status === 'building') return 'building';
  if (health === 'failed' || health === 'degraded') return health;
  return status;
}

/** Returns the mark of a state in the title of the browser's tab. */
export function titleMark(state: ShownState): string {
  const marks: Record<ShownState, string> = {
    ...{ built: '✓', building: '●', created: '○', empty: '○', failed: '✕', degraded: '!', asleep: '☾' },
  };
  return marks[state];
}

/** Returns what a repository's or group's health shows. */
export function shownHealth(health: Health): ShownState {
  const states: Record<Health, ShownState> = {
    ...{ healthy: 'built', progressing: 'building', degraded: 'degraded', failed: 'failed', inactive: 'empty' },
  };
  return states[health];
}
