import { existsSync, readFileSync } from 'node:fs';
import type { RequestOptions } from 'node:https';
import { isIPv6 } from 'node:net';
import { join } from 'node:path';

/** The address of an API server, and the credentials for it; client-node's KubeConfig is one. */
export interface ClusterConnection {
  getCurrentCluster(): { server: string; proxyUrl?: string | undefined } | null;
  /** Adds what authenticates server and client. It is called for each request, because credentials are replaced. */
  applyToHTTPSOptions(options: Pick<RequestOptions, 'headers' | 'ca'>): void | Promise<void>;
}

interface Surroundings {
  variables: Record<string, string | undefined>;
  /** Where Kubernetes mounts the credentials of the pod's service account. */
  accountFolder: string;
  now: () => number;
}

/** As often as client-go; the kubelet replaces a token long before it expires. */
const rereadMs = 60_000;
const inPod: Surroundings = {
  variables: process.env,
  accountFolder: '/var/run/secrets/kubernetes.io/serviceaccount',
  now: Date.now,
};

/**
 * Connects with KUBECONFIG, else ~/.kube/config, else the pod's service account. Only the first two load client-node,
 * which takes longer than all other modules of a process together.
 */
export async function connectCluster(surroundings: Surroundings = inPod): Promise<ClusterConnection> {
  const { variables, accountFolder } = surroundings;
  const hasFile =
    Boolean(variables['KUBECONFIG']) ||
    (variables['HOME'] !== undefined && existsSync(join(variables['HOME'], '.kube', 'config')));
  if (!hasFile && variables['KUBERNETES_SERVICE_HOST'] !== undefined && existsSync(join(accountFolder, 'token'))) {
    return new ServiceAccountConnection(surroundings);
  }
  const { loadKubeConfig } = await import('./kube-config.ts');
  return loadKubeConfig();
}

/** Connects as the service account of this pod. */
class ServiceAccountConnection implements ClusterConnection {
  readonly #surroundings: Surroundings;
  readonly #server: string;
  #read: { at: number; authorization: string; ca: Buffer } | undefined;

  constructor(surroundings: Surroundings) {
    const { KUBERNETES_SERVICE_HOST: host = '', KUBERNETES_SERVICE_PORT: port = '443' } = surroundings.variables;
    this.#surroundings = surroundings;
    this.#server = `https://${isIPv6(host) ? `[${host}]` : host}:${port}`;
  }

  getCurrentCluster(): { server: string } {
    return { server: this.#server };
  }

  applyToHTTPSOptions(options: Pick<RequestOptions, 'headers' | 'ca'>): void {
    const { authorization, ca } = this.#credentials();
    options.headers = Object.assign({}, options.headers, { authorization });
    options.ca = ca;
  }

  #credentials() {
    const now = this.#surroundings.now();
    if (this.#read === undefined || now - this.#read.at >= rereadMs) {
      const file = (name: string) => readFileSync(join(this.#surroundings.accountFolder, name));
      this.#read = { at: now, authorization: `Bearer ${file('token').toString('utf8').trim()}`, ca: file('ca.crt') };
    }
    return this.#read;
  }
}
