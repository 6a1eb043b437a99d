import { deliverStored, type ImageSource } from '../images/app-image.ts';
import { ensureBaseImages, type ImageName, storedImages } from '../images/base-images.ts';
import type { Kubectl } from '../kubectl.ts';
import { mirrorImages } from '../images/mirror.ts';
import type { Progress } from '../../support/progress.ts';
import { ensurePasswordRegistry, installedPassword } from './password-registry.ts';
import type { Registry } from './registry.ts';
import { ensureTokenRegistry } from './token-registry.ts';

/** The running registries, and what they have for a new node. */
export interface StartedRegistries {
  registry: Registry;
  /** Names in the registry, of images of this repository that were stored before. */
  parts: readonly string[];
  /** Images of docker.io that were stored before. */
  images: readonly ImageName[];
}

interface RegistriesOptions {
  /** For an existing cluster: it has the password of its registry. */
  installed: Kubectl | undefined;
  /** Whether the node image is built locally, so that the registry is the mirror of docker.io. */
  isMirror: () => Promise<boolean>;
  /** Images of this repository. */
  sources: readonly ImageSource[];
  /** Images of docker.io that a new node needs first. */
  firstImages: readonly ImageName[];
}

/**
 * Starts the registries. Pushes what a new cluster needs and what is stored by now, so that the node pulls it while kubeadm
 * starts the control plane.
 */
export async function startRegistries(
  { installed, isMirror, sources, firstImages }: RegistriesOptions,
  progress: Progress,
): Promise<StartedRegistries> {
  await ensureBaseImages(['registry'], progress);
  const password = async () => installed && installedPassword(installed);
  const registry = await progress.step('registry', (detail) => ensurePasswordRegistry(password, progress, detail));
  await progress.step('registry of built images', (detail) => ensureTokenRegistry(installed, detail));
  if (!(await isMirror())) return { registry, parts: [], images: [] };
  const isNew = installed === undefined;
  const parts: string[] = [];
  for (const source of isNew ? sources : []) {
    const delivered = await deliverStored(source, registry, progress);
    if (delivered !== undefined) parts.push(delivered);
  }
  const images = isNew ? storedImages(firstImages) : [];
  await mirrorImages([...new Set<ImageName>(['valkey', 'node', ...images])], registry, progress);
  return { registry, parts, images };
}
