import { runtimeLogKeys } from '../../build-logs/keys.ts';
import type { LogPage } from '../../build-logs/page.ts';
import type { FollowRequest } from '../../build-logs/follow-request.ts';
import type { RuntimeLogRange } from '../environments/runtime-logs.ts';
import type { FakeLogReader } from './fake-log-reader.ts';

/** Logs of services, which the test writes to the log reader; `tail` is ignored. */
export class FakeRuntimeLogs {
  readonly #reader: FakeLogReader;
  readonly followRequests: FollowRequest[] = [];
  /** Error that every read throws, if set. */
  failure: Error | undefined;

  constructor(reader: FakeLogReader) {
    this.#reader = reader;
  }

  async *follow(followRequest: FollowRequest, { from }: RuntimeLogRange, signal: AbortSignal): AsyncGenerator<LogPage> {
    this.followRequests.push(followRequest);
    if (this.failure) throw this.failure;
    yield* this.#reader.read(runtimeLogKeys(followRequest.uid, followRequest.service), { from, signal });
  }

  /** Returns one page. */
  async *read(followRequest: FollowRequest, range: RuntimeLogRange, signal: AbortSignal): AsyncGenerator<LogPage> {
    for await (const page of this.follow(followRequest, range, signal)) {
      yield page;
      return;
    }
  }
}
