import { writeNodeFile } from '../kind-cluster.ts';
import { basicAuthorization } from './registry.ts';
import type { Registry } from './registry.ts';

/**
 * Configures containerd in nodes, all by default, with the registry and its credentials, so that Coppice's own pods need no pull Secret,
 * and with the registry of built images, for which pods of environments have pull Secrets. If the base images were built
 * locally, the registry replaces docker.io under the path docker.io/; otherwise docker.io's mirrors are used, if there are
 * any.
 */
export async function configureNodeRegistry(
  registry: Registry,
  isMirror: boolean,
  hubMirrors: readonly string[],
  nodes?: readonly string[],
): Promise<void> {
  const { address, nodeAddress = address } = registry;
  const server = `http://${nodeAddress}`;
  const header = `Authorization = ["${basicAuthorization(registry)}"]`;
  const files = new Map<string, string>();
  files.set(
    nodeAddress,
    `[host."${server}"]
  capabilities = ["pull", "resolve"]
  [host."${server}".header]
    ${header}
`,
  );
  if (address !== nodeAddress) {
    files.set(
      address,
      `[host."http://${address}"]
  capabilities = ["pull", "resolve"]
`,
    );
  }
  if (hubMirrors.length > 0) {
    const hosts = hubMirrors.map((url) => `[host."${url}"]\n  capabilities = ["pull", "resolve"]\n`);
    files.set('docker.io', `server = "https://registry-1.docker.io"\n${hosts.join('')}`);
  }
  if (isMirror) {
    const mirror = `${server}/v2/docker.io`;
    files.set(
      'docker.io',
      `server = "${mirror}"
[host."${mirror}"]
  capabilities = ["pull", "resolve"]
  override_path = true
  [host."${mirror}".header]
    ${header}
`,
    );
  }
  await Promise.all(
    [...files].map(([host, text]) => writeNodeFile(`/etc/containerd/certs.d/${host}/hosts.toml`, text, nodes)),
  );
}
