import { writeNodeFile } from './kind-cluster.ts';
import { basicAuthorization } from './registry.ts';
import type { Registry } from './registry.ts';

/**
 * Tells the node's containerd how it reaches the registry, with its credentials, so that no pod needs a pull secret.
 * Where the base images were made here it stands in for docker.io too, below the path docker.io/ of its own names.
 */
export async function configureNodeRegistry(registry: Registry, isMirror: boolean): Promise<void> {
  const server = `http://${registry.address}`;
  const header = `Authorization = ["${basicAuthorization(registry)}"]`;
  await writeNodeFile(
    `/etc/containerd/certs.d/${registry.address}/hosts.toml`,
    `[host."${server}"]
  capabilities = ["pull", "resolve"]
  [host."${server}".header]
    ${header}
`,
  );
  if (!isMirror) return;
  const mirror = `${server}/v2/docker.io`;
  await writeNodeFile(
    '/etc/containerd/certs.d/docker.io/hosts.toml',
    `server = "${mirror}"
[host."${mirror}"]
  capabilities = ["pull", "resolve"]
  override_path = true
  [host."${mirror}".header]
    ${header}
`,
  );
}
