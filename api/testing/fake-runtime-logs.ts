import { runtimeLogKeys } from '../../build-logs/keys.ts';
import type { LogPage } from '../../build-logs/page.ts';
import type { RuntimeWish } from '../../build-logs/runtime-wish.ts';
import type { RuntimeLogRange } from '../environments/runtime-logs.ts';
import type { FakeLogReader } from './fake-log-reader.ts';

/** Logs of services that the test writes into the reader's; `tail` is not looked at. */
export class FakeRuntimeLogs {
  readonly #reader: FakeLogReader;
  readonly wishes: RuntimeWish[] = [];
  /** Thrown by every reading while set. */
  failure: Error | undefined;

  constructor(reader: FakeLogReader) {
    this.#reader = reader;
  }

  async *follow(wish: RuntimeWish, { from }: RuntimeLogRange, signal: AbortSignal): AsyncGenerator<LogPage> {
    this.wishes.push(wish);
    if (this.failure) throw this.failure;
    yield* this.#reader.read(runtimeLogKeys(wish.uid, wish.service), { from, signal });
  }

  /** One page of it. */
  async *read(wish: RuntimeWish, range: RuntimeLogRange, signal: AbortSignal): AsyncGenerator<LogPage> {
    for await (const page of this.follow(wish, range, signal)) {
      yield page;
      return;
    }
  }
}
