import { z } from 'zod';
import { NODE_CONTAINER } from '../cluster/kind-cluster.ts';
import type { Kubectl } from '../cluster/kubectl.ts';
import { IMAGES_CONTAINER, REGISTRY_CONTAINER } from '../cluster/registries/registry.ts';
import { run, tryRun } from '../support/run.ts';
import { IMAGES } from '../cluster/versions.ts';
import { waitFor } from '../support/wait-for.ts';
import { CONTROL_PORT, VISITORS_PORT } from '../../waker-protocol/messages.ts';
import type { Targets } from './attacking-page.ts';
import { namespaceOf } from './harness.ts';

/** An address of cloud metadata services. */
const metadataAddress = '169.254.169.254';
/** Where kube-proxy reports its health, at every address of the node. */
const kubeProxyPort = 10256;

/** Prepares the node: gives it the address of cloud metadata services. Returns a function that removes it. */
export async function addMetadataAddress(): Promise<() => Promise<void>> {
  const address = (verb: string) =>
    run('docker', ['exec', NODE_CONTAINER, 'ip', 'address', verb, `${metadataAddress}/32`, 'dev', 'lo']);
  await address('replace');
  return async () => void (await address('delete'));
}

/**
 * Documentation addresses (RFC 5737), which policies treat as public. The network is small, because it hides these
 * addresses from the whole machine, and some machines reach the internet through others of the range.
 */
const publicNetwork = { name: 'coppice-public', subnet: '198.51.100.192/28', address: '198.51.100.206' };

/** Starts a web server outside of the cluster, at a public address. Returns its URL, and a function that removes it. */
export async function startPublicServer(): Promise<{ url: string; remove: () => Promise<void> }> {
  const { name, subnet, address } = publicNetwork;
  const remove = async () => {
    await tryRun('docker', ['rm', '--force', '--volumes', name]);
    await tryRun('docker', ['network', 'disconnect', '--force', name, NODE_CONTAINER]);
    await tryRun('docker', ['network', 'rm', name]);
  };
  await remove(); // A killed run may have left it.
  // An internal network leaves the node's default route as it is.
  await run('docker', ['network', 'create', '--internal', '--subnet', subnet, name]);
  await run('docker', ['network', 'connect', name, NODE_CONTAINER]);
  const configuration = { version: 0.1, storage: { filesystem: { rootdirectory: '/tmp' } }, http: { addr: ':5000' } };
  const serve = `echo '${JSON.stringify(configuration)}' >/tmp/config.yml; exec registry serve /tmp/config.yml`;
  const options = ['--network', name, '--ip', address, '--env', 'OTEL_TRACES_EXPORTER=none', '--entrypoint', 'sh'];
  await run('docker', ['run', '--detach', '--name', name, ...options, IMAGES.registry, '-c', serve]);
  return { url: `http://${address}:5000/v2/`, remove };
}

const podSchema = z.looseObject({
  status: z.looseObject({
    podIP: z.string().optional(),
    conditions: z.array(z.looseObject({ type: z.string(), status: z.string() })).optional(),
  }),
});
const podsSchema = z.object({ items: z.array(podSchema) });

/** Waits for a ready pod, and returns its address. */
function podAddress(kubectl: Kubectl, namespace: string, selector: string): Promise<string> {
  return waitFor(`a ready pod ${selector} in ${namespace}`, 20, async () => {
    const args = ['get', 'pods', '--namespace', namespace, '--selector', selector, '--output', 'json'];
    const { items } = podsSchema.parse(JSON.parse(await kubectl(args)));
    const isReady = ({ status }: z.infer<typeof podSchema>) =>
      status.conditions?.some(({ type, status: is }) => type === 'Ready' && is === 'True');
    return items.find(isReady)?.status.podIP;
  });
}

async function serviceAddress(kubectl: Kubectl, namespace: string, name: string): Promise<string> {
  const path = 'jsonpath={.spec.clusterIP}';
  return (await kubectl(['get', 'service', name, '--namespace', namespace, '--output', path])).trim();
}

/** A step of a branch's build runs in its pod. */
export const OWN_BUILDER = 'builder of the own group';

const component = (name: string) => `app.kubernetes.io/name=coppice-${name}`;

/** Returns what nothing in an environment may reach. */
export async function forbiddenTargets(
  kubectl: Kubectl,
  others: { sameGroup: string; otherGroup: string; ownBuilder: string; builder: string },
): Promise<Targets> {
  const system = 'coppice-system';
  const web = 'coppice.dev/service=web';
  const pod = (namespace: string, selector: string) => podAddress(kubectl, namespace, selector);
  const [same, other] = [namespaceOf(others.sameGroup), namespaceOf(others.otherGroup)];
  const node = (await kubectl(['get', 'nodes', '--output', 'jsonpath={.items[0].status.addresses[0].address}'])).trim();
  const [operator, api, tester, waker, tokens] = await Promise.all(
    ['operator', 'api', 'tester', 'waker', 'registry-tokens'].map((name) => pod(system, component(name))),
  );
  const at = async (host: string | Promise<string> | undefined, port: number) => ({ host: (await host) ?? '', port });
  const builder = (name: string) => at(pod('coppice-builders', `coppice.dev/builder=${name}`), 1234);
  const all: Record<string, Promise<Targets[string]>> = {
    'environment of the same group': at(pod(same, web), 8080),
    'environment of the same group, by Service': at(serviceAddress(kubectl, same, 'web'), 8080),
    'environment of another group': at(pod(other, web), 8080),
    'environment of another group, by Service': at(serviceAddress(kubectl, other, 'web'), 8080),
    [OWN_BUILDER]: builder(others.ownBuilder),
    'builder of another group': builder(others.builder),
    'another application of the cluster': at(pod('git', 'app=git'), 3000),
    'metrics of DNS': at(pod('kube-system', 'k8s-app=kube-dns'), 9153),
    'Kubernetes API, by Service': at(serviceAddress(kubectl, 'default', 'kubernetes'), 443),
    'Kubernetes API, by node': at(node, 6443),
    kubelet: at(node, 10250),
    etcd: at(node, 2379),
    'kube-proxy': at(node, kubeProxyPort),
    'metadata address': at(metadataAddress, kubeProxyPort),
    Redis: at(serviceAddress(kubectl, system, 'coppice-redis'), 6379),
    'metrics of the operator': at(operator, 3001),
    'metrics of the API': at(api, 3001),
    'metrics of the tester': at(tester, 3001),
    'metrics of the waker': at(waker, 3001),
    'metrics of the token server': at(tokens, 3001),
    'API without Ingress': at(api, 3000),
    'forward authentication without Ingress': at(api, 3002),
    'waker without Ingress': at(waker, VISITORS_PORT),
    'control port of the waker': at(waker, CONTROL_PORT),
    'token server without Ingress': at(tokens, 3000),
    'tester itself': at(tester, 3000),
    'Ingress controller': at(serviceAddress(kubectl, 'traefik', 'traefik'), 80),
    'host port of the Ingress controller': at(node, 80),
    'registry of base images': at(REGISTRY_CONTAINER, 5000),
    'registry of built images': at(IMAGES_CONTAINER, 5000),
  };
  return Object.fromEntries(
    await Promise.all(Object.entries(all).map(async ([name, one]) => [name, await one] as const)),
  );
}

/** Returns the names of the targets that the node reaches, which policies do not restrict: something listens there. */
export async function reachedByNode(targets: Targets): Promise<string[]> {
  const outcomes = await Promise.all(
    Object.entries(targets).map(async ([name, { host, port }]) => {
      const script = `exec 3<>/dev/tcp/${host}/${port}`;
      const answer = await tryRun('docker', ['exec', NODE_CONTAINER, 'timeout', '5', 'bash', '-c', script]);
      return answer === undefined ? [] : [name];
    }),
  );
  return outcomes.flat();
}
