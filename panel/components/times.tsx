import { computed } from '@preact/signals';
import type { JSX } from 'preact';
import { useMemo } from 'preact/hooks';
import { coarseNow, now } from '../state/clock.ts';
import { duration, elapsedTime, exactTime, relativeTime, shortAge } from '../view/time.ts';

/** A time as an age, with the exact time on hover. `at` in Unix seconds; 0 shows nothing. */
export function Ago({ at, isShort = false }: { at: number; isShort?: boolean }): JSX.Element | null {
  // A list shows thousands of times: only the changed texts are rendered again, without their components.
  const text = useMemo(() => computed(() => ageText(at, coarseNow.value / 1000, isShort)), [at, isShort]);
  if (at <= 0) return null;
  return (
    <time dateTime={new Date(at * 1000).toISOString()} title={exactTime(at)} class="figures">
      {text}
    </time>
  );
}

/** For how long something has been so, with the exact time on hover. `at` in Unix seconds. */
export function Lasting({ at }: { at: number }): JSX.Element {
  const text = useMemo(() => computed(() => elapsedTime(at, coarseNow.value / 1000)), [at]);
  return (
    <time dateTime={new Date(at * 1000).toISOString()} title={`since ${exactTime(at)}`} class="figures">
      {text}
    </time>
  );
}

/** Treats times up to 10 s in the future as now, because the coarse clock lags. */
function ageText(at: number, clock: number, isShort: boolean): string {
  const current = at > clock && at - clock < 10 ? at : clock;
  return isShort ? shortAge(at, current) : relativeTime(at, current);
}

/** How long something has been running, updated each second. */
export function Elapsed({ since }: { since: number }): JSX.Element {
  return (
    <span class="figures" title={`since ${exactTime(since)}`}>
      {duration(now.value / 1000 - since)}
    </span>
  );
}
