import { setImmediate as nextTick } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { ClusterClient } from '../client.ts';
import type { Informer } from '../informer.ts';
import { keyOf, type KubernetesObject } from '../resource-type.ts';
import { ListServer } from './list-server.ts';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

const listedCount = 30;
const mebibyte = 1024 * 1024;

/** Fills an informer with a list of 30 objects and a watch event; returns its objects, and the heap in MiB. */
export async function holdMany<T extends KubernetesObject>(
  objectOf: (number: number) => T,
  informerOf: (client: ClusterClient) => Informer<T>,
): Promise<{ held: T[]; heapMiB: number }> {
  const added = objectOf(listedCount);
  const server = await ListServer.start(
    () => Array.from({ length: listedCount }, (_, number) => objectOf(number)),
    added,
  );
  const informer = informerOf(server.client);
  const before = await heapBytes();
  informer.start();
  try {
    await informer.whenSynced();
    await informer.waitFor(keyOf(added), (one) => one !== undefined, { timeoutMs: 30_000 });
    return { held: informer.list(), heapMiB: ((await heapBytes()) - before) / mebibyte };
  } finally {
    await informer.stop();
    await server.stop();
  }
}

async function heapBytes(): Promise<number> {
  for (let round = 0; round < 2; round++) {
    await nextTick();
    collectGarbage();
  }
  return process.memoryUsage().heapUsed;
}
