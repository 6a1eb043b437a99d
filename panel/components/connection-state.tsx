import type { JSX } from 'preact';
import { now } from '../state/clock.ts';
import { connection } from '../state/live.ts';
import { exactTime } from '../view/time.ts';

/** Shows whether the page receives changes as they happen, or else since when its data may be old. */
export function ConnectionState(): JSX.Element {
  const state = connection.value;
  if (state.kind === 'live') return <Dot state="built" text="live" />;
  if (state.kind === 'connecting') return <Dot state="empty" text="connecting" />;
  const seconds = Math.round((now.value - state.since) / 1000);
  const title = `What is shown was current at ${exactTime(state.since / 1000)}`;
  const text = seconds < 5 ? 'reconnecting' : `stale since ${clockTime(state.since)}`;
  return <Dot state={seconds < 5 ? 'degraded' : 'failed'} text={text} title={title} />;
}

function Dot({ state, text, title }: { state: string; text: string; title?: string }): JSX.Element {
  return (
    <span class={`connection state-${state} ${title === undefined ? '' : 'is-off'}`} role="status" title={title}>
      {text}
    </span>
  );
}

function clockTime(at: number): string {
  return new Date(at).toLocaleTimeString('en-GB');
}
