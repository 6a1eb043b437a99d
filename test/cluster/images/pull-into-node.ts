import type { StoredImage } from './image-store.ts';
import type { Progress } from '../../support/progress.ts';
import { mirrorPath } from './push-image.ts';
import { run, tryRun } from '../../support/run.ts';

/** Label of an image in containerd: the digest of the configuration of the pulled version. */
const configLabel = 'dev.coppice.config';

const imagesOn = (node: string, ...args: string[]) => ['exec', node, 'ctr', '-n', 'k8s.io', 'images', ...args];

/** Returns the digest of the configuration of an image that was pulled into a node; undefined if it was not pulled. */
async function configInNode(node: string, image: string): Promise<string | undefined> {
  const output = await tryRun('docker', imagesOn(node, 'list', `name==${mirrorPath(image)}`));
  return new RegExp(`${configLabel}=([^ ,]*)`).exec(output ?? '')?.[1];
}

/**
 * Pulls images that the mirror of docker.io has into a node, unless it has them in this version. The kubelet would not
 * pull another version of the same tag.
 */
export async function pullIntoNode(node: string, images: readonly StoredImage[], progress: Progress): Promise<void> {
  for (const { image, config } of images) {
    if ((await configInNode(node, image)) === config) continue;
    await progress.step(`pull ${image} into ${node}`, async () => {
      await pull(node, mirrorPath(image));
      await run('docker', imagesOn(node, 'label', mirrorPath(image), `${configLabel}=${config}`));
    });
  }
}

/** Pulls an image of this repository's parts into a node, so that it is there when its pods are scheduled. */
export async function pullPartIntoNode(node: string, image: string, progress: Progress): Promise<void> {
  await progress.step(`pull ${image} into ${node}`, () => pull(node, image));
}

async function pull(node: string, image: string): Promise<void> {
  const options = ['--hosts-dir', '/etc/containerd/certs.d', '--snapshotter', 'overlayfs'];
  await run('docker', imagesOn(node, 'pull', ...options, image));
}
