export interface WatchedMessages {
  messages: AsyncIterable<object>;
  /** Ends the watch. */
  stop: () => void;
}

/**
 * Passes messages on, and calls `onSilence` once when, though nothing more is to be expected, the source brought
 * neither a message nor its end for an interval: what a log that was lost looks like. The time that a slow reader
 * takes is not silence.
 */
export function watchSilence(
  source: AsyncIterable<object>,
  isOver: () => boolean,
  onSilence: () => void,
  intervalMs: number,
): WatchedMessages {
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

  async function* pass(): AsyncGenerator<object> {
    for await (const message of source) {
      received++;
      waiting = false;
      yield message;
      waiting = true;
    }
  }
  return { messages: pass(), stop: () => clearInterval(timer) };
}
