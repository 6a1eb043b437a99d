export interface WatchedPages<Page> {
  pages: AsyncIterable<Page>;
  /** Stops watching. */
  stop: () => void;
}

/**
 * Passes pages on, and calls `onSilence` once if the log is complete but the source returns neither a page nor its end
 * for an interval, as when the log was lost. Time that a slow reader takes does not count.
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
