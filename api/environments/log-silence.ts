export interface WatchedPages<Page> {
  pages: AsyncIterable<Page>;
  /** Ends the watch. */
  stop: () => void;
}

/**
 * Passes pages on, and calls `onSilence` once when, though nothing more is to be expected, the source brought
 * neither a page nor its end for an interval: what a log that was lost looks like. The time that a slow reader
 * takes is not silence.
 */
export function watchSilence<Page>(
  source: AsyncIterable<Page>,
  isOver: () => boolean,
  onSilence: () => void,
  intervalMs: number,
): WatchedPages<Page> {
  let received = 0;
  let waiting = true;
  let seen = -1;
  const timer = setInterval(() => {
    if (waiting && received === seen && isOver()) {
      clearInterval(timer);
      onSilence();
    }
    seen = waiting && isOver() ? received : -1;
  }, intervalMs);

  async function* pass(): AsyncGenerator<Page> {
    for await (const page of source) {
      received++;
      waiting = false;
      yield page;
      waiting = true;
    }
  }
  return { pages: pass(), stop: () => clearInterval(timer) };
}
