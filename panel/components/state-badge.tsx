import type { JSX } from 'preact';
import type { ShownState } from '../view/shown-state.ts';
import { Icon, type IconName } from './icons.tsx';

/** The icon of each state. */
export const STATE_ICONS: Readonly<Record<ShownState, IconName>> = {
  built: 'check',
  building: 'progress',
  created: 'ring',
  empty: 'ring',
  failed: 'cross',
  degraded: 'warning',
  asleep: 'moon',
  deleting: 'bin',
};

/** A state as icon, word and colour. */
export function StateBadge({ state, isQuiet = false }: { state: ShownState; isQuiet?: boolean }): JSX.Element {
  return (
    <span class={`badge state-${state} ${isQuiet ? 'badge-quiet' : ''}`}>
      <Icon name={STATE_ICONS[state]} />
      {state}
    </span>
  );
}
