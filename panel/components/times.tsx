import type { JSX } from 'preact';
import { now } from '../state/clock.ts';
import { duration, exactTime, relativeTime, shortAge } from '../view/time.ts';

/** A time as an age, with the exact time on hover. `at` in Unix seconds; 0 shows nothing. */
export function Ago({ at, isShort = false }: { at: number; isShort?: boolean }): JSX.Element | null {
  if (at <= 0) return null;
  const current = now.value / 1000;
  return (
    <time dateTime={new Date(at * 1000).toISOString()} title={exactTime(at)} class="figures">
      {isShort ? shortAge(at, current) : relativeTime(at, current)}
    </time>
  );
}

/** The duration of something that runs since a time, growing each second. */
export function Elapsed({ since }: { since: number }): JSX.Element {
  return (
    <span class="figures" title={`since ${exactTime(since)}`}>
      {duration(now.value / 1000 - since)}
    </span>
  );
}
