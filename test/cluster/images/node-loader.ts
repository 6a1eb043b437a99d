import { type ImageName, storeBaseImages } from './base-images.ts';
import { NODE_CONTAINER } from '../kind-cluster.ts';
import { mirrorImages } from './mirror.ts';
import type { Prefetched } from './prefetch-images.ts';
import type { Progress } from '../../support/progress.ts';
import { pullIntoNode, pullPartIntoNode } from './pull-into-node.ts';
import type { Registry } from '../registries/registry.ts';

export interface NodeLoaderOptions {
  registry: Registry;
  /** Whether the registry is the mirror of docker.io; otherwise the kubelet pulls its images when pods need them. */
  isMirror: boolean;
  /** Returns whether an image was pulled while the cluster was created. */
  prefetched: Prefetched;
  /** Resolves when the nodes know the registry. */
  configured: Promise<void>;
}

/** Loads images into nodes before their pods are scheduled. */
export class NodeLoader {
  readonly #options: NodeLoaderOptions;
  readonly #progress: Progress;

  constructor(options: NodeLoaderOptions, progress: Progress) {
    this.#options = options;
    this.#progress = progress;
  }

  /** Loads an image of docker.io into nodes. */
  async load(name: ImageName, nodes: readonly string[]): Promise<void> {
    const { registry, isMirror, prefetched, configured } = this.#options;
    if (!isMirror) return;
    const missing = (await prefetched(name)) ? nodes.filter((node) => node !== NODE_CONTAINER) : nodes;
    if (missing.length === 0) return;
    await mirrorImages([name], registry, this.#progress);
    await configured;
    const stored = await storeBaseImages([name], this.#progress);
    await Promise.all(missing.map((node) => pullIntoNode(node, stored, this.#progress)));
  }

  /** Loads an image of this repository into the control plane's node. */
  async loadPart(part: string): Promise<void> {
    const { prefetched, configured } = this.#options;
    if (await prefetched(part)) return;
    await configured;
    await pullPartIntoNode(NODE_CONTAINER, part, this.#progress);
  }
}
