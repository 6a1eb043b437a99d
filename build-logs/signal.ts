/** A signal that several can raise; if raised while nobody waits, the next wait returns immediately. */
export class Signal {
  #isRaised = false;
  #wake: (() => void) | undefined;

  raise(): void {
    this.#isRaised = true;
    this.#wake?.();
  }

  /** Waits until raised, for at most `ms`, or until aborted; never throws. Only one caller can wait at a time. */
  async wait(ms: number, abort: AbortSignal): Promise<void> {
    if (!this.#isRaised && !abort.aborted) {
      await new Promise<void>((resolve) => {
        const done = (): void => {
          clearTimeout(timer);
          abort.removeEventListener('abort', done);
          this.#wake = undefined;
          resolve();
        };
        const timer = setTimeout(done, ms);
        abort.addEventListener('abort', done, { once: true });
        this.#wake = done;
      });
    }
    this.#isRaised = false;
  }
}
