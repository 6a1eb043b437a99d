import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Cluster } from '../cluster/running-cluster.ts';
import { waitForAnswer } from '../cluster/network/ingress.ts';
import { apply, rollout } from '../cluster/kubectl.ts';
import { mirrorImages } from '../cluster/images/mirror.ts';
import type { Progress } from '../support/progress.ts';
import { IMAGES } from '../cluster/versions.ts';

/**
 * Deploys Gitea to the cluster, in the Git server's namespace, and waits until it responds. It has no users: tests
 * create them with its command line.
 */
export async function deployGitea(cluster: Cluster, progress: Progress): Promise<void> {
  if (cluster.isMirror) await mirrorImages(['gitea'], cluster.registry, progress);
  await progress.step('Gitea', async () => {
    await apply(cluster.kubectl, manifest());
    await rollout(cluster.kubectl, 'git', 'gitea');
    await waitForAnswer(cluster, 'gitea.localhost:8080', '/api/healthz');
  });
}

function manifest(): string {
  const read = (name: string) => readFileSync(join(import.meta.dirname, name), 'utf8');
  return read('manifest.yaml')
    .replace('image: IMAGE', `image: ${IMAGES.gitea}`)
    .replace("name: CONFIGURATION, value: ''", () => `name: CONFIGURATION, value: ${JSON.stringify(read('app.ini'))}`);
}
