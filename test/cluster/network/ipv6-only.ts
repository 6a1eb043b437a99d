import { NODE_CONTAINER, writeNodeFile } from '../kind-cluster.ts';
import type { Kubectl } from '../kubectl.ts';
import { onNode } from '../on-node.ts';

/** Port of the node at which pods reach Docker's DNS server, which has an IPv4 address only. */
export const DNS_PORT = 1053;

/** What each cluster answered: its address family never changes. */
const families = new WeakMap<Kubectl, Promise<boolean>>();

/** Returns whether pods and Services have no IPv4 address: in a dual-stack cluster of kind, IPv4 is first. */
export function isIpv6Only(kubectl: Kubectl): Promise<boolean> {
  const answer =
    families.get(kubectl) ??
    kubectl(['get', 'service', 'kubernetes', '--output', 'jsonpath={.spec.clusterIP}']).then((one) =>
      one.includes(':'),
    );
  families.set(kubectl, answer);
  answer.catch(() => families.delete(kubectl)); // Callers report it.
  return answer;
}

/** Returns the address of the node with the control plane in the network of the nodes. */
export async function nodeAddress(kubectl: Kubectl): Promise<string> {
  const path = 'jsonpath={.status.addresses[?(@.type=="InternalIP")].address}';
  return (await kubectl(['get', 'node', NODE_CONTAINER, '--output', path])).trim();
}

/**
 * Connects an IPv6-only cluster with what has IPv4 addresses only: the published port of the Ingress controller, and
 * Docker's DNS server, which knows the registries. The node has both families, and its systemd passes connections on.
 */
export async function forwardIpv4(kubectl: Kubectl): Promise<void> {
  const path = 'jsonpath={.spec.clusterIP}';
  const traefik = (await kubectl(['--namespace', 'traefik', 'get', 'service', 'traefik', '--output', path])).trim();
  const resolver = /^nameserver (\S+)$/m.exec(await onNode('cat', '/etc/resolv.conf'))?.[1];
  if (resolver === undefined) throw new Error("the node's /etc/resolv.conf names no DNS server");
  // systemd-socket-proxyd takes addresses without brackets.
  await forwardPort('coppice-ingress', '0.0.0.0:80', `${traefik}:80`);
  await forwardPort('coppice-dns', `[::]:${DNS_PORT}`, `${resolver}:53`);
}

async function forwardPort(name: string, from: string, to: string): Promise<void> {
  const folder = '/etc/systemd/system';
  await writeNodeFile(
    `${folder}/${name}.socket`,
    `[Socket]\nListenStream=${from}\n[Install]\nWantedBy=sockets.target\n`,
  );
  await writeNodeFile(
    `${folder}/${name}.service`,
    `[Unit]\nRequires=${name}.socket\nAfter=${name}.socket\n[Service]\nExecStart=/lib/systemd/systemd-socket-proxyd ${to}\n`,
  );
  await onNode('systemctl', 'daemon-reload');
  // The next connection starts it with the present address.
  await onNode('systemctl', 'stop', `${name}.service`);
  await onNode('systemctl', 'enable', '--now', '--quiet', `${name}.socket`);
}
