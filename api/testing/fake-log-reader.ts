import type { LogReader } from '../environments/log-stream.ts';

/** Build logs that the test writes. */
export class FakeLogReader implements LogReader {
  readonly #logs = new Map<string, object[]>();
  readonly #ended = new Set<string>();
  #wake = Promise.withResolvers<undefined>();

  write(logId: string, ...messages: object[]): void {
    this.#logs.set(logId, [...(this.#logs.get(logId) ?? []), ...messages]);
    this.#tell();
  }

  end(logId: string): void {
    this.#ended.add(logId);
    this.#tell();
  }

  async *read(logId: string, { from = 0, signal }: { from?: number | undefined; signal: AbortSignal }) {
    const aborted = new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
    for (let next = from + 1; !signal.aborted;) {
      const wake = this.#wake.promise;
      const messages = this.#logs.get(logId) ?? [];
      for (; next <= messages.length; next++) yield messages[next - 1] ?? {};
      if (this.#ended.has(logId)) return;
      await Promise.race([wake, aborted]);
    }
  }

  #tell(): void {
    this.#wake.resolve(undefined);
    this.#wake = Promise.withResolvers();
  }
}
