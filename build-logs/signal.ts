/** Something to be waited for that several may raise; raised while nobody waits, it lets the next wait through. */
export class Signal {
  #isRaised = false;
  #wake: (() => void) | undefined;

  raise(): void {
    this.#isRaised = true;
    this.#wake?.();
  }

  /** Until raised, for `ms` at most, or until aborted; never throws. One waits at a time. */
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
