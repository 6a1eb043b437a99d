import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { storeBaseImages } from '../cluster/images/base-images.ts';
import { apply, rollout } from '../cluster/kubectl.ts';
import type { Progress } from '../support/progress.ts';
import { Problem } from '../support/problem.ts';
import { pushStored } from '../cluster/images/push-image.ts';
import type { Cluster } from '../cluster/running-cluster.ts';
import { IMAGES, VERSIONS } from '../cluster/versions.ts';

/** Deploys metrics-server to the local cluster, and waits until it has measured the nodes. */
export async function deployMetricsServer(cluster: Cluster, progress: Progress): Promise<void> {
  // Another cluster has one already, or an administrator who decides.
  if (!cluster.isKind) throw new Problem('--metrics is for the local cluster: install metrics-server yourself.');
  const image = await imageOf(cluster, progress);
  await progress.step('metrics-server', async () => {
    await apply(
      cluster.kubectl,
      readFileSync(join(import.meta.dirname, 'manifest.yaml'), 'utf8').replace('IMAGE', image),
    );
    await rollout(cluster.kubectl, 'kube-system', 'metrics-server');
  });
}

/** Returns the name by which the node pulls the image; the mirror of the local registry serves only those of docker.io. */
async function imageOf({ isMirror, registry }: Cluster, progress: Progress): Promise<string> {
  if (!isMirror) return IMAGES['metrics-server'];
  const [stored] = await storeBaseImages(['metrics-server'], progress);
  if (stored === undefined) throw new Error('the image of metrics-server was not stored');
  return pushStored(stored, `metrics-server:${VERSIONS.metricsServer}`, registry, progress);
}
