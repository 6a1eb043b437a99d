import { refSnapshotKey, refSnapshotSchema, type RefSnapshot } from '../../crds/ref-snapshot.ts';
import type { Repository } from '../../crds/repository.ts';
import { orUnavailable } from '../shared/errors.ts';

/** The Redis command that this needs. */
export interface SnapshotRedis {
  get(key: string): Promise<string | null>;
}

/** Reads what the operator's syncs listed last. */
export class RefSnapshots {
  readonly #redis: SnapshotRedis;

  constructor(redis: SnapshotRedis) {
    this.#redis = redis;
  }

  /** Returns undefined if no sync has listed refs within a day. @throws Unavailable */
  async of({ metadata: { uid = '' } }: Repository): Promise<RefSnapshot | undefined> {
    const answer = this.#redis.get(refSnapshotKey(uid));
    const text = await orUnavailable(answer, 'the list of refs cannot be read now. Try again later');
    return text === null ? undefined : refSnapshotSchema.parse(JSON.parse(text));
  }
}
