import { withCleanUp } from '../support/clean-up.ts';
import type { Progress } from '../support/progress.ts';
import { startHarness, type Harness } from '../end-to-end/harness.ts';
import { removeAll } from './bench-cluster.ts';
import { EnvironmentWatch } from './environment-watch.ts';
import type { Bench } from './held.ts';
import type { Figure } from './measure.ts';
import { ObservedCluster } from './observed-cluster.ts';

/**
 * Measures with a separate user and watch; then deletes the groups, and the namespaces that start with `prefix`, unless
 * they are to be kept.
 */
export async function withBench(
  progress: Progress,
  prefix: string,
  measure: (bench: Bench & { harness: Harness }) => Promise<Figure[]>,
  { keep = false } = {},
): Promise<Figure[]> {
  const harness = await startHarness('bench');
  const cluster = new ObservedCluster(harness.connection.kubeconfig);
  const watch = new EnvironmentWatch(cluster.client);
  const work = async () => {
    await watch.start();
    return measure({ progress, cluster, watch, harness });
  };
  const takeAway = async () => {
    await watch.stop();
    if (!keep) await removeAll(harness, prefix);
  };
  const cleanUp = () => withCleanUp(takeAway, async () => cluster.close());
  return withCleanUp(work, () => progress.step('clean up', cleanUp));
}
