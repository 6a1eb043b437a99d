import { writeNodeFile } from './kind-cluster.ts';
import { basicAuthorization } from './registry.ts';
import type { Registry } from './registry.ts';

/**
/**
 * Configures how the node's containerd reaches the registry, with its credentials, so that no pod of Coppice needs a pull
 * Secret, and the registry of built images, for which pods of environments bring their own. Where the base images were built
 * locally the registry stands in for docker.io too, below the path docker.io/ of its own names. Elsewhere docker.io is pulled
 * from its mirrors, where there are some.
 */
export async function configureNodeRegistry(
  registry: Registry,
  isMirror: boolean,
  hubMirrors: readonly string[],
): Promise<void> {
  const { address, nodeAddress = address } = registry;
  const server = `http://${nodeAddress}`;
  const header = `Authorization = ["${basicAuthorization(registry)}"]`;
  await writeNodeFile(
    `/etc/containerd/certs.d/${nodeAddress}/hosts.toml`,
    `[host."${server}"]
  capabilities = ["pull", "resolve"]
  [host."${server}".header]
    ${header}
`,
  );
  if (address !== nodeAddress) {
    await writeNodeFile(
      `/etc/containerd/certs.d/${address}/hosts.toml`,
      `[host."http://${address}"]
  capabilities = ["pull", "resolve"]
`,
    );
  }
  if (hubMirrors.length > 0) {
    const hosts = hubMirrors.map((url) => `[host."${url}"]\n  capabilities = ["pull", "resolve"]\n`);
    await writeNodeFile(
      '/etc/containerd/certs.d/docker.io/hosts.toml',
      `server = "https://registry-1.docker.io"\n${hosts.join('')}`,
    );
  }
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
