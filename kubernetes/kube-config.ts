import { KubeConfig } from '@kubernetes/client-node';

/**
 * Loads KUBECONFIG, else ~/.kube/config, else the pod's service account. `context` selects another than the current
 * one.
 */
export function loadKubeConfig(context?: string): KubeConfig {
  const config = new KubeConfig();
  config.loadFromDefault();
  if (context !== undefined) {
    if (!config.getContexts().some(({ name }) => name === context)) {
      const known = config.getContexts().map(({ name }) => name);
      throw new Error(`no context "${context}" in the kubeconfig; it has: ${known.join(', ') || 'none'}`);
    }
    config.setCurrentContext(context);
  }
  const server = config.getCurrentCluster()?.server;
  // client-node returns this server when it has found no configuration.
  if (server === undefined || server === 'http://localhost:8080') {
    throw new Error('no cluster is configured: set KUBECONFIG, or run in a pod with a service account');
  }
  return config;
}
