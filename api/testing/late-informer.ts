import { WaitTimeoutError, type WaitOptions } from '../../kubernetes/change-waiters.ts';
import { InformerCache } from '../../kubernetes/informer-cache.ts';
import type { IndexFunction } from '../../kubernetes/object-store.ts';
import { compareResourceVersions, type KubernetesObject } from '../../kubernetes/resource-type.ts';
import { settle } from '../../kubernetes/testing/fake-clock.ts';

/** An informer whose watch events and timeouts the test controls. */
export class LateInformer<T extends KubernetesObject> {
  readonly cache: InformerCache<T>;
  readonly #giveUps: (() => void)[] = [];

  constructor(indexes: Record<string, IndexFunction<T>>) {
    this.cache = new InformerCache(indexes, () => undefined);
  }

  get resourceVersion() {
    return this.cache.resourceVersion;
  }

  get(at: string) {
    return this.cache.store.get(at);
  }

  byIndex(index: string, value: string) {
    return this.cache.store.byIndex(index, value);
  }

  addHandler() {
    return () => undefined;
  }

  observe(written: T) {
    this.cache.observe(written);
  }

  async waitFor(at: string, predicate: (found: T | undefined) => boolean, options: WaitOptions) {
    await this.#until(() => predicate(this.get(at)), options);
    return this.get(at);
  }

  async whenSeen(version: string, options: WaitOptions) {
    await this.#until(() => compareResourceVersions(this.resourceVersion, version) >= 0, options);
  }

  /** Makes the current waits check once more and then time out. */
  async giveUp() {
    for (const end of this.#giveUps.splice(0)) end();
    await settle();
  }

  #until(holds: () => boolean, { timeoutMs }: WaitOptions): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#giveUps.push(() => {
        if (holds()) resolve();
        else reject(new WaitTimeoutError(`not within ${timeoutMs} ms`));
      });
    });
  }
}
