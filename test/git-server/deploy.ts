import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { deliverImage, type ImageSource } from '../cluster/images/app-image.ts';
import type { Cluster } from '../cluster/running-cluster.ts';
import { waitForAnswer } from '../cluster/network/ingress.ts';
import { apply, rollout } from '../cluster/kubectl.ts';
import type { Progress } from '../support/progress.ts';

export const GIT_SERVER_SOURCE: ImageSource = {
  name: 'coppice-git-server',
  context: import.meta.dirname,
  dockerfile: join(import.meta.dirname, 'Dockerfile'),
};

/** Deploys the Git server to the cluster and waits until it responds; returns the URL of its repositories. */
export async function deployGitServer(cluster: Cluster, progress: Progress): Promise<string> {
  const image = await deliverImage(GIT_SERVER_SOURCE, cluster, progress);
  return progress.step('Git server', async () => {
    const manifest = readFileSync(join(import.meta.dirname, 'manifest.yaml'), 'utf8');
    await apply(cluster.kubectl, manifest.replace('image: IMAGE', `image: ${image}`));
    await rollout(cluster.kubectl, 'git', 'git');
    await waitForAnswer(cluster, 'git.localhost:8080', '/healthz');
    return 'http://git.localhost:8080';
  });
}
