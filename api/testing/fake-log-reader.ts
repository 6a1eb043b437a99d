import { buildLogKeys, type LogKeys } from '../../build-logs/keys.ts';
import { LogPage } from '../../build-logs/page.ts';
import type { ReadOptions } from '../../build-logs/reader.ts';

/** A log reader whose logs the test writes. */
export class FakeLogReader {
  readonly #logs = new Map<string, LogPage[]>();
  readonly #ended = new Set<string>();
  /** Error that reading stored messages throws, if set. */
  failure: Error | undefined;
  #wake = Promise.withResolvers<undefined>();

  /** Writes messages that readers receive as one page. */
  write(logId: string, ...messages: object[]): void {
    this.writeTo(buildLogKeys(logId), ...messages);
  }

  writeTo({ stream }: LogKeys, ...messages: object[]): void {
    const page = new LogPage(Buffer.from(messages.map((message) => JSON.stringify(message)).join('\n')));
    this.#logs.set(stream, [...(this.#logs.get(stream) ?? []), page]);
    this.#report();
  }

  end(logId: string): void {
    this.#ended.add(buildLogKeys(logId).stream);
    this.#report();
  }

  async *read({ stream }: LogKeys, { from = 0, signal }: ReadOptions): AsyncGenerator<LogPage, void, undefined> {
    const aborted = new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
    for (let next = 0; !signal.aborted;) {
      const wake = this.#wake.promise;
      const pages = this.#logs.get(stream) ?? [];
      for (; next < pages.length; next++) {
        const page = pages[next]?.after(from);
        if (page) yield page;
      }
      if (this.#ended.has(stream)) return;
      await Promise.race([wake, aborted]);
    }
  }

  async *readKept({ stream }: LogKeys, { from = 0, signal }: ReadOptions): AsyncGenerator<LogPage, void, undefined> {
    await Promise.resolve();
    if (this.failure) throw this.failure;
    for (const page of this.#logs.get(stream) ?? []) {
      const rest = page.after(from);
      if (rest && !signal.aborted) yield rest;
    }
  }

  #report(): void {
    this.#wake.resolve(undefined);
    this.#wake = Promise.withResolvers();
  }
}
