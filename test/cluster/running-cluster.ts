import type { CommandLineTools } from './command-line-tools.ts';
import type { Kubectl } from './kubectl.ts';
import type { Registry } from './registry.ts';

/** A cluster that is up, and how everything else reaches it. */
export interface Cluster {
  /** A file of mode 0600 with this cluster alone. */
  kubeconfig: string;
  kubectl: Kubectl;
  tools: CommandLineTools;
  registry: Registry;
  /** The registry stands in for docker.io, below docker.io/, because the base images were made here. */
  isMirror: boolean;
  /** URLs of the mirrors of docker.io that Docker is configured with, where images are pulled. */
  hubMirrors: readonly string[];
  /** Where the Ingress controller answers this machine, whatever the Host header says. */
  ingressUrl: string;
  /** False for a cluster that somebody else keeps: images go through the registry, not into the node. */
  isKind: boolean;
  /**
   * Settles when the parts around the API server are ready: node, Ingress controller, DNS names, and the images that
   * are not pulled. What is deployed earlier waits for them by itself.
   */
  ready: Promise<void>;
}
