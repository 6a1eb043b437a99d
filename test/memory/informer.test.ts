import { expect, test } from '@jest/globals';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { setImmediate as nextTick } from 'node:timers/promises';
import { Informer } from '../../kubernetes/informer.ts';
import type { KubernetesObject } from '../../kubernetes/resource-type.ts';
import { silentLogger } from '../../kubernetes/testing/silent-logger.ts';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

const versions = 20;

test('releases a version once a newer one has arrived, while the watch continues', async () => {
  const seen: WeakRef<KubernetesObject>[] = [];
  let finished = () => {};
  const allSent = new Promise<void>((resolve) => (finished = resolve));
  const informer = new Informer<KubernetesObject>({
    name: 'ConfigMap',
    logger: silentLogger,
    source: {
      list: () => Promise.resolve({ items: [], resourceVersion: '1' }),
      async *watch({ signal }) {
        for (let version = 2; version < 2 + versions; version++) {
          const metadata = { namespace: 'shop', name: 'one', resourceVersion: String(version) };
          const object: KubernetesObject = { apiVersion: 'v1', kind: 'ConfigMap', metadata };
          seen.push(new WeakRef(object));
          yield { type: 'MODIFIED', object };
        }
        finished();
        await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
      },
    },
    transform: (object) => object,
  });
  informer.start();
  try {
    await allSent;
    const kept = () => seen.filter((version) => version.deref() !== undefined).length;
    // The cache contains the newest version, and a handler may still have the one before.
    for (let round = 0; round < 10 && kept() > 2; round++) {
      await nextTick();
      collectGarbage();
    }
    expect(kept()).toBeLessThanOrEqual(2);
  } finally {
    await informer.stop();
  }
});
