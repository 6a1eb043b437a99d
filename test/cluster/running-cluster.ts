import type { CommandLineTools } from './machine/command-line-tools.ts';
import type { Kubectl } from './kubectl.ts';
import type { Registry } from './registries/registry.ts';

/** A running cluster, and how to connect to it. */
export interface Cluster {
  /** A file of mode 0600 with only this cluster. */
  kubeconfig: string;
  kubectl: Kubectl;
  tools: CommandLineTools;
  registry: Registry;
  /** Whether the registry replaces docker.io, below docker.io/, because the base images were built locally. */
  isMirror: boolean;
  /** URLs of the docker.io mirrors in Docker's configuration, if images are pulled. */
  hubMirrors: readonly string[];
  /** Address of the Ingress controller for this machine, whatever the Host header. */
  ingressUrl: string;
  /** Whether it is the local kind cluster; false for a cluster that the user has named. */
  isKind: boolean;
  /** Whether there were no nodes at the start, so that nothing can be installed. */
  isNew: boolean;
  /** Number of nodes that run pods of the cluster's users; undefined for an existing cluster. */
  nodes?: number;
  /**
   * Resolves when everything except the API server is ready: node, Ingress controller, DNS names, and images that are
   * not pulled. Objects deployed earlier wait for them.
   */
  ready: Promise<void>;
}
