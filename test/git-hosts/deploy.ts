import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { deliverImage, type ImageSource } from '../cluster/images/app-image.ts';
import type { Cluster } from '../cluster/running-cluster.ts';
import { waitForAnswer } from '../cluster/network/ingress.ts';
import { apply, rollout } from '../cluster/kubectl.ts';
import type { Progress } from '../support/progress.ts';
import { KINDS } from './kind.ts';

export const GIT_HOSTS_SOURCE: ImageSource = {
  name: 'coppice-git-hosts',
  context: dirname(import.meta.dirname),
  dockerfile: join(import.meta.dirname, 'Dockerfile'),
};

/**
 * Deploys the hosted types of Git host to the cluster, in the Git server's namespace, and waits until each responds.
 */
export async function deployGitHosts(cluster: Cluster, progress: Progress): Promise<void> {
  const image = await deliverImage(GIT_HOSTS_SOURCE, cluster, progress);
  await progress.step('Git hosts', async () => {
    const manifest = readFileSync(join(import.meta.dirname, 'manifest.yaml'), 'utf8');
    await apply(cluster.kubectl, manifest.replace('image: IMAGE', `image: ${image}`));
    await rollout(cluster.kubectl, 'git', 'git-hosts');
    for (const kind of KINDS) await waitForAnswer(cluster, `${kind}.localhost:8080`, '/healthz');
  });
}
