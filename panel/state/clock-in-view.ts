import { effect, useSignal, type ReadonlySignal } from '@preact/signals';
import type { RefObject } from 'preact';
import { useEffect } from 'preact/hooks';
import { coarseNow } from './clock.ts';

/**
 * Returns the coarse clock for the content of an element with `content-visibility: auto`. It stops while the browser
 * skips the element, so that a clock in a list of 10,000 costs what the rows in view cost.
 */
export function useClockInView(element: RefObject<HTMLElement | null>): ReadonlySignal<number> {
  const clock = useSignal(coarseNow.peek());
  useEffect(() => {
    const { current } = element;
    const follow = () => effect(() => void (clock.value = coarseNow.value));
    let stop: () => void = follow();
    const onChange = (event: Event) => {
      // The event bubbles from the sections in the element.
      if (event.target !== current || !(event instanceof ContentVisibilityAutoStateChangeEvent)) return;
      stop();
      stop = event.skipped ? () => undefined : follow();
    };
    current?.addEventListener('contentvisibilityautostatechange', onChange);
    return () => {
      current?.removeEventListener('contentvisibilityautostatechange', onChange);
      stop();
    };
  }, []);
  return clock;
}
