import type { Selection } from '../../kubernetes/client-options.ts';
import type { ClusterClient } from '../../kubernetes/client.ts';
import { Informer, type InformerHandler } from '../../kubernetes/informer.ts';
import { listWatch } from '../../kubernetes/list-watch.ts';
import type { KubernetesObject, ResourceType } from '../../kubernetes/resource-type.ts';
import { silentLogger } from '../../kubernetes/testing/silent-logger.ts';
import { withCleanUp } from '../support/clean-up.ts';
import { Problem } from '../support/problem.ts';

const syncedWithinMs = 60_000;

/** Watches all objects of a selection during `work`. */
export function following<T extends KubernetesObject, Result>(
  client: ClusterClient,
  type: ResourceType<T>,
  selection: Selection,
  work: (informer: Informer<T>) => Promise<Result>,
  handler?: InformerHandler<T>,
): Promise<Result> {
  const source = listWatch<T>(client, type, selection);
  const informer = new Informer<T>({ name: 'bench', source, logger: silentLogger });
  if (handler) informer.addHandler(handler);
  const followed = async () => {
    informer.start();
    await synced(informer.whenSynced(), type.kind);
    return work(informer);
  };
  return withCleanUp(followed, () => informer.stop());
}

/** Waits for the informers with a timeout: they retry refused or failed connections forever, without an error. */
async function synced(all: Promise<unknown>, what: string): Promise<void> {
  const late = new Promise<never>((_, reject) => {
    setTimeout(
      () => reject(new Problem(`no list of ${what} within ${syncedWithinMs / 1000} s`)),
      syncedWithinMs,
    ).unref();
  });
  await Promise.race([all, late]);
}
