import type { Health, Status } from '../api/items.ts';

/** The state that a badge shows, with a word, an icon and a colour: the environment's state, or its problem. */
export type ShownState = 'built' | 'building' | 'created' | 'empty' | 'failed' | 'degraded' | 'asleep' | 'deleting';

interface ShownInput {
  status: Status;
  health?: Health | undefined;
  asleep?: true | undefined;
  /** Whether its contents are being deleted, which the API reports as `building`. */
  removing?: true | undefined;
  deleting?: true | undefined;
}

/** Returns the state that an environment's badge shows. */
export function shownState({ status, health, asleep, removing, deleting }: ShownInput): ShownState {
  if (removing === true || deleting === true) return 'deleting';
  if (status === 'building') return 'building';
  if (health === 'failed') return health;
  if (asleep === true) return 'asleep';
  if (health === 'degraded') return health;
  return status;
}

/** Returns the symbol of a state in the title of the browser's tab. */
export function titleMark(state: ShownState): string {
  const marks: Record<ShownState, string> = {
    ...{ built: '✓', building: '●', created: '○', empty: '○', failed: '✕', degraded: '!', asleep: '☾' },
    deleting: '−',
  };
  return marks[state];
}

/** Returns the state that the badge of a repository or group shows. */
export function shownHealth(health: Health): ShownState {
  const states: Record<Health, ShownState> = {
    ...{ healthy: 'built', progressing: 'building', degraded: 'degraded', failed: 'failed', inactive: 'empty' },
  };
  return states[health];
}
