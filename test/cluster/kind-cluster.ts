import { chmodSync, mkdirSync, rmSync } from 'node:fs';
import { stringify } from 'yaml';
import type { CommandLineTools } from './machine/command-line-tools.ts';
import { nodeImageNamed } from './images/node-image.ts';
import type { NodeImage } from './images/node-image.ts';
import { kubectlWith } from './kubectl.ts';
import { KUBECONFIG_FILE, LOCAL_FOLDER } from '../support/paths.ts';
import { isReadySinceBefore, podsSchema } from './pod-readiness.ts';
import { messageOf, Problem } from '../support/problem.ts';
import type { Progress } from '../support/progress.ts';
import { run, tryRun } from '../support/run.ts';
import { waitFor } from '../support/wait-for.ts';

export const CLUSTER_NAME = 'coppice';
export const NODE_CONTAINER = `${CLUSTER_NAME}-control-plane`;
export const INGRESS_PORT = 8080;

/** Returns whether there is a cluster, running or not. */
export async function hasNode(): Promise<boolean> {
  return (await nodeStates()).size > 0;
}

/** Returns Docker's state of the container of each node, such as running or exited; the control plane is first. */
async function nodeStates(): Promise<Map<string, string>> {
  const format = '{{.Names}} {{.State}}';
  const filter = `label=io.x-k8s.kind.cluster=${CLUSTER_NAME}`;
  const listed = await run('docker', ['ps', '--all', '--filter', filter, '--format', format]);
  const states = listed.split('\n').flatMap((line) => {
    const [name = '', state = ''] = line.split(' ');
    return name === '' ? [] : [[name, state] as const];
  });
  // `control-plane` sorts before `worker`.
  return new Map(states.sort(([a], [b]) => (a < b ? -1 : 1)));
}

/**
 * Disconnects the nodes from every network except kind's. One that a killed test run left would become the address of
 * its node at the next start, and its policies would not apply to that address.
 */
async function leaveOtherNetworks(nodes: readonly string[]): Promise<void> {
  const format = '{{range $name, $_ := .NetworkSettings.Networks}}{{$name}} {{end}}';
  for (const node of nodes) {
    const networks = (await run('docker', ['inspect', '--format', format, node])).trim().split(' ');
    for (const network of networks.filter((name) => name !== 'kind')) {
      await run('docker', ['network', 'disconnect', '--force', network, node]);
    }
  }
}

/** Returns the names of all nodes, which are also those of their containers; the control plane is first. */
export async function nodeNames(): Promise<string[]> {
  return [...(await nodeStates()).keys()];
}

/** Returns the nodes that run pods of the cluster's users: with workers, the control plane runs none. */
export async function workingNodes(): Promise<string[]> {
  const all = await nodeNames();
  return all.length === 1 ? all : all.filter((name) => name !== NODE_CONTAINER);
}

export const IP_FAMILIES = ['ipv4', 'dual', 'ipv6'] as const;
export type IpFamily = (typeof IP_FAMILIES)[number];

/** What a new cluster gets. An existing one keeps its own, so other options are refused. */
export interface NewCluster {
  /** Number of nodes, undefined for as many as there were. An existing cluster must have as many. */
  nodes?: number;
  /** Addresses of pods and Services, IPv4 by default. An existing cluster must have these. */
  ipFamily?: IpFamily;
  /** kind's node image to pull, instead of that of this version of kind. An existing cluster must have this. */
  nodeImage?: string;
}

/** Returns kind's configuration. */
function kindConfiguration(nodes: number, ipFamily: IpFamily, { isBuiltLocally }: NodeImage): string {
  const controllerManager = { 'kube-api-qps': '200', 'kube-api-burst': '400', 'concurrent-namespace-syncs': '40' };
  const extraArgs = Object.entries({ 'enable-hostpath-provisioner': 'true', ...controllerManager });
  const patches = [
    {
      kind: 'ClusterConfiguration',
      // Faster to generate than RSA keys.
      encryptionAlgorithm: 'ECDSA-P256',
      // Without these, the controller manager's defaults would slow down a thousand environments more than Coppice
      // does.
      controllerManager: { extraArgs: extraArgs.map(([name, value]) => ({ name, value })) },
    },
    // On cgroup v1 the kubelet does not start otherwise; on v2 it has no effect.
    { kind: 'KubeletConfiguration', failCgroupV1: false, maxPods: 200, podPidsLimit: 4096, serializeImagePulls: false },
    { kind: 'KubeProxyConfiguration', oomScoreAdj: 0 },
  ];
  return stringify({
    kind: 'Cluster',
    apiVersion: 'kind.x-k8s.io/v1alpha4',
    // The network policy agent of the local node image relies on kind's default pod networks (family.go). kind would
    // publish the API server of an IPv6 cluster on ::1.
    networking: { ipFamily, apiServerAddress: '127.0.0.1' },
    // A locally built node image contains this.
    ...(!isBuiltLocally && {
      containerdConfigPatches: [
        '[plugins."io.containerd.grpc.v1.cri".registry]\n  config_path = "/etc/containerd/certs.d"\n',
      ],
    }),
    kubeadmConfigPatches: patches.map((patch) => stringify(patch)),
    nodes: [
      {
        role: 'control-plane',
        extraPortMappings: [{ containerPort: 80, hostPort: INGRESS_PORT, listenAddress: '127.0.0.1' }],
      },
      ...Array.from({ length: nodes - 1 }, () => ({ role: 'worker' })),
    ],
  });
}

/** Throws a Problem if the cluster has something else than the user asks for: nodes are created once. */
function requireSame(what: string, existing: string | number, wanted: string | number | undefined): void {
  if (wanted === undefined || existing === wanted) return;
  throw new Problem(
    `The local cluster's ${what} is ${existing}, not ${wanted}, and kind cannot change that: run \`npm run down\`, then this again.`,
  );
}

/** Throws a Problem if the existing nodes, which may be stopped, are others than the user asks for. */
export async function requireSameNodes({ nodes, nodeImage }: NewCluster): Promise<void> {
  if (nodes !== undefined) requireSame('number of nodes', (await nodeStates()).size, nodes);
  if (nodeImage !== undefined) requireSame('node image', await existingImage(), nodeImage);
}

/** Returns the image of which the existing nodes are. */
const existingImage = async (): Promise<string> =>
  (await run('docker', ['inspect', '--format', '{{.Config.Image}}', NODE_CONTAINER])).trim();

/** Returns the address family of the existing cluster's pods. */
async function existingIpFamily(tools: CommandLineTools): Promise<IpFamily> {
  const path = 'jsonpath={.spec.podCIDRs}';
  return ipFamilyOf(await kubectlWith(tools.kubectl)(['get', 'node', NODE_CONTAINER, '--output', path]));
}

/** Returns the address family of networks in CIDR notation, in any text. */
export function ipFamilyOf(networks: string): IpFamily {
  if (!networks.includes(':')) return 'ipv4';
  return networks.includes('.') ? 'dual' : 'ipv6';
}

/**
 * Ensures that the cluster exists and is healthy. Starts stopped nodes, as after a restart of the machine or dockerd;
 * creates a cluster that does not become healthy again. Returns the image from which the nodes were created.
 */
export async function ensureKindCluster(
  { nodes, ipFamily }: NewCluster,
  image: () => Promise<NodeImage>,
  tools: CommandLineTools,
  progress: Progress,
): Promise<NodeImage> {
  const states = await nodeStates();
  if (states.size > 0 && (await succeedsOrReports(() => startStopped(states, progress)))) {
    // Another clone may have created the cluster again since this clone wrote its kubeconfig.
    await exportKubeconfig(tools);
    const isHealthy = await succeedsOrReports(() =>
      progress.step('wait for the nodes', async () => {
        await waitForNodes(tools, 120);
        await waitForPodStatuses(tools, 120);
      }),
    );
    if (isHealthy) {
      if (ipFamily !== undefined) requireSame('IP family', await existingIpFamily(tools), ipFamily);
      return nodeImageNamed(await existingImage());
    }
  }
  if (states.size > 0) await deleteKindCluster();
  const nodeImage = await image();
  mkdirSync(LOCAL_FOLDER, { recursive: true });
  await progress.step('create the kind cluster', async (detail) => {
    const args = [
      'create',
      'cluster',
      '--name',
      CLUSTER_NAME,
      '--image',
      nodeImage.name,
      '--kubeconfig',
      KUBECONFIG_FILE,
    ];
    const input = kindConfiguration(nodes ?? Math.max(states.size, 1), ipFamily ?? 'ipv4', nodeImage);
    // The next steps need only the API server, and wait for the node themselves.
    await run(tools.kind, [...args, '--config', '-'], { input, detail, deadline: 600 });
    chmodSync(KUBECONFIG_FILE, 0o600);
  });
  return nodeImage;
}

/** Waits until containerd runs in the control plane's container, which is before kubeadm starts anything. */
export async function waitForContainerd(signal: AbortSignal): Promise<void> {
  const isUp = async () => (await tryRun('docker', ['exec', NODE_CONTAINER, 'ctr', 'version'])) !== undefined;
  await waitFor('containerd in the node', 120, async () => ((await isUp()) ? true : undefined), signal);
}

async function startStopped(states: ReadonlyMap<string, string>, progress: Progress): Promise<void> {
  const stopped = [...states].flatMap(([name, state]) => (state === 'running' ? [] : [name]));
  if (stopped.length === 0) return;
  await progress.step('start the stopped nodes again', async () => {
    await leaveOtherNetworks(stopped);
    await run('docker', ['start', ...stopped]);
  });
}

/** Returns whether a step of making the nodes healthy succeeds; otherwise prints why the cluster is created again. */
async function succeedsOrReports(step: () => Promise<void>): Promise<boolean> {
  try {
    await step();
    return true;
  } catch (error) {
    console.log(`The nodes do not become healthy, so the cluster is created again: ${messageOf(error)}`);
    return false;
  }
}

async function exportKubeconfig(tools: CommandLineTools): Promise<void> {
  mkdirSync(LOCAL_FOLDER, { recursive: true });
  await run(tools.kind, ['export', 'kubeconfig', '--name', CLUSTER_NAME, '--kubeconfig', KUBECONFIG_FILE]);
  chmodSync(KUBECONFIG_FILE, 0o600);
}

async function nodesStarted(names: readonly string[]): Promise<Map<string, number>> {
  const format = '{{.Name}} {{.State.StartedAt}}';
  const lines = (await run('docker', ['inspect', '--format', format, ...names])).trim().split('\n');
  return new Map(
    lines.map((line) => {
      const [name = '', started = ''] = line.split(' ');
      return [name.replace(/^\//, ''), Date.parse(started)];
    }),
  );
}

/**
 * Waits until each node is Ready. The condition counts only after the kubelet has renewed its lease since the node
 * started, because it may be from before.
 */
export async function waitForNodes(tools: CommandLineTools, deadline: number): Promise<void> {
  const kubectl = kubectlWith(tools.kubectl);
  const started = await nodesStarted(await nodeNames());
  const ready = 'jsonpath={range .items[*]}{.status.conditions[?(@.type=="Ready")].status}{"\\n"}{end}';
  const renewed = 'jsonpath={range .items[*]}{.metadata.name} {.spec.renewTime}{"\\n"}{end}';
  await waitFor('the nodes to be Ready', deadline, async () => {
    const options = { deadline: 10 };
    const states = (await kubectl(['get', 'nodes', '-o', ready], options)).trim().split('\n');
    if (states.length < started.size || states.some((state) => state !== 'True')) return undefined;
    const leases = await kubectl(['-n', 'kube-node-lease', 'get', 'leases', '-o', renewed], options);
    const times = new Map(leases.split('\n').map((line) => line.split(' ') as [string, string | undefined]));
    const isRenewed = ([name, since]: [string, number]) => Date.parse(times.get(name) ?? '') > since;
    return [...started].every(isRenewed) ? true : undefined;
  });
}

/**
 * Waits until no pod has a readiness from before its node started: otherwise waiting for a rollout in a restarted node
 * would end immediately.
 */
async function waitForPodStatuses(tools: CommandLineTools, deadline: number): Promise<void> {
  const kubectl = kubectlWith(tools.kubectl);
  const started = await nodesStarted(await nodeNames());
  await waitFor('the kubelet to report its pods', deadline, async () => {
    const pods = podsSchema.parse(JSON.parse(await kubectl(['get', 'pods', '--all-namespaces', '--output', 'json'])));
    return pods.items.every((pod) => !isReadySinceBefore(started, pod)) ? true : undefined;
  });
}

/** Removes the nodes with their volumes. Uses only Docker, so that cleaning up does not need kind. */
export async function deleteKindCluster(): Promise<void> {
  const names = await nodeNames();
  if (names.length > 0) await run('docker', ['rm', '--force', '--volumes', ...names], { deadline: 120 });
  rmSync(KUBECONFIG_FILE, { force: true });
}

/** Writes a file in nodes, all by default, readable only by root, unless its content is the same. */
export async function writeNodeFile(path: string, text: string, nodes?: readonly string[]): Promise<void> {
  const script = 'umask 077; mkdir -p "$(dirname "$1")"; cat >"$1.$$"; mv "$1.$$" "$1"';
  const write = async (node: string) => {
    if ((await tryRun('docker', ['exec', node, 'cat', path])) === text) return;
    await run('docker', ['exec', '-i', node, 'sh', '-c', script, 'sh', path], { input: text });
  };
  await Promise.all((nodes ?? (await nodeNames())).map(write));
}
