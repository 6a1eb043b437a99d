import { DNS_PORT, isIpv6Only, nodeAddress } from './ipv6-only.ts';
import { apply, rollout } from '../kubectl.ts';
import type { Kubectl } from '../kubectl.ts';
import { Problem } from '../../support/problem.ts';

const ingressService = 'traefik.traefik.svc.cluster.local';
const rewrite = `    rewrite stop name regex (.+\\.)?localhost ${ingressService} answer auto`;

/**
 * Returns the Corefile in which the server of `.` resolves every *.localhost name to the Ingress controller's Service.
 */
function withLocalhostNames(corefile: string): string {
  if (corefile.includes(rewrite)) return corefile;
  const changed = corefile.replace(/^(\.:53 \{\n)/m, `$1${rewrite}\n`);
  if (changed === corefile) throw new Problem("CoreDNS's Corefile has no server block `.:53 {` to add *.localhost to");
  return changed;
}

/**
 * Returns the Corefile in which other names are asked of this server by TCP, and not of the node's server, which has no
 * IPv6 address.
 */
export function withUpstream(corefile: string, address: string): string {
  const changed = corefile.replace(
    /\bforward \. \S+ \{\n(?: *force_tcp\n)?/,
    `forward . ${address} {\n       force_tcp\n`,
  );
  if (!changed.includes(`forward . ${address} `))
    throw new Problem("CoreDNS's Corefile has no block `forward . SERVER {`");
  return changed;
}

/**
 * Restarts all replicas of CoreDNS at once, because nothing uses it yet. A short readiness interval makes it ready as
 * soon as it responds, instead of at the second probe after 10 s. kubeadm requests a tenth of a processor for each, which is
 * more than they need and the Ingress controller's share. A second replica helps only with several nodes.
 */
const restarted = (nodes: number) => ({
  spec: {
    replicas: nodes > 1 ? 2 : 1,
    strategy: { rollingUpdate: { maxUnavailable: '100%' } },
    template: {
      metadata: { annotations: { 'coppice.dev/localhost-names': ingressService } },
      spec: {
        containers: [
          { name: 'coredns', readinessProbe: { periodSeconds: 1 }, resources: { requests: { cpu: '50m' } } },
        ],
      },
    },
  },
});

/** Makes http://NAME.env.localhost:8080 work in pods as on the host; restarts CoreDNS if its configuration changed. */
export async function answerLocalhostNames(kubectl: Kubectl, nodes: number): Promise<void> {
  const namespace = ['--namespace', 'kube-system'];
  const corefile = await kubectl([...namespace, 'get', 'configmap', 'coredns', '-o', 'jsonpath={.data.Corefile}']);
  const named = withLocalhostNames(corefile);
  const wanted = (await isIpv6Only(kubectl))
    ? withUpstream(named, `[${await nodeAddress(kubectl)}]:${DNS_PORT}`)
    : named;
  if (wanted !== corefile) {
    const metadata = { name: 'coredns', namespace: 'kube-system' };
    await apply(kubectl, JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { Corefile: wanted } }));
    await kubectl([...namespace, 'patch', 'deployment/coredns', '--patch', JSON.stringify(restarted(nodes))]);
  }
  await rollout(kubectl, 'kube-system', 'coredns');
}
