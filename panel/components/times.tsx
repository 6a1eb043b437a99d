import type { JSX } from 'preact';
import { coarseNow, now } from '../state/clock.ts';
import { ageText, duration, elapsedTime, exactTime } from '../view/time.ts';

/** A time as text, with the exact time on hover. `at` in Unix seconds; 0 shows nothing. */
export function Time({ at, text, className = '' }: { at: number; text: string; className?: string }): JSX.Element {
  return at <= 0 ? (
    <span class={className} />
  ) : (
    <time dateTime={new Date(at * 1000).toISOString()} title={exactTime(at)} class={`figures ${className}`}>
      {text}
    </time>
  );
}

/** A time as an age, with the exact time on hover. `at` in Unix seconds; 0 shows nothing. */
export function Ago({ at, isShort = false }: { at: number; isShort?: boolean }): JSX.Element | null {
  return at <= 0 ? null : <Time at={at} text={ageText(at, coarseNow.value / 1000, isShort)} />;
}

/** For how long something has been so, with the exact time on hover. `at` in Unix seconds. */
export function Lasting({ at }: { at: number }): JSX.Element {
  return (
    <time dateTime={new Date(at * 1000).toISOString()} title={`since ${exactTime(at)}`} class="figures">
      {elapsedTime(at, coarseNow.value / 1000)}
    </time>
  );
}

/** How long something has been running, updated each second. */
export function Elapsed({ since }: { since: number }): JSX.Element {
  return (
    <span class="figures" title={`since ${exactTime(since)}`}>
      {duration(now.value / 1000 - since)}
    </span>
  );
}
