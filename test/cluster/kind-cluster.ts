import { chmodSync, existsSync, mkdirSync, rmSync } from 'node:fs';
import { stringify } from 'yaml';
import type { CommandLineTools } from './command-line-tools.ts';
import { nodeImageNamed } from './node-image.ts';
import type { NodeImage } from './node-image.ts';
import { kubectlWith } from './kubectl.ts';
import { KUBECONFIG_FILE, LOCAL_FOLDER } from './paths.ts';
import { isReadySinceBefore, podsSchema } from './pod-readiness.ts';
import { messageOf } from './problem.ts';
import type { Progress } from './progress.ts';
import { run, tryRun } from './run.ts';
import { waitFor } from './wait-for.ts';

export const CLUSTER_NAME = 'coppice';
export const NODE_CONTAINER = `${CLUSTER_NAME}-control-plane`;
export const INGRESS_PORT = 8080;

/** Returns whether there is a cluster, running or not. */
export async function hasNode(): Promise<boolean> {
  return (await nodeState()) !== 'none';
}

/** Returns 'none', or Docker's state of the node's container: running, exited, … */
async function nodeState(): Promise<string> {
  const state = await tryRun('docker', ['inspect', '--format', '{{.State.Status}}', NODE_CONTAINER]);
  return state?.trim() ?? 'none';
}

/** Returns kind's configuration, which is the same for the official node image and for a locally built one. */
function kindConfiguration(): string {
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
    networking: { podSubnet: '10.244.0.0/16' },
    containerdConfigPatches: [
      '[plugins."io.containerd.grpc.v1.cri".registry]\n  config_path = "/etc/containerd/certs.d"\n',
    ],
    kubeadmConfigPatches: patches.map((patch) => stringify(patch)),
    nodes: [
      {
        role: 'control-plane',
        extraPortMappings: [{ containerPort: 80, hostPort: INGRESS_PORT, listenAddress: '127.0.0.1' }],
      },
    ],
  });
}

/**
 * Ensures that the cluster exists and is healthy. Starts a stopped node, as after a restart of the machine or dockerd;
 * creates a node that does not become healthy again. Returns the image from which the node was created.
 */
export async function ensureKindCluster(
  image: () => Promise<NodeImage>,
  tools: CommandLineTools,
  progress: Progress,
): Promise<NodeImage> {
  const state = await nodeState();
  if (state !== 'none') {
    try {
      if (state !== 'running') {
        await progress.step('start the stopped node again', () => run('docker', ['start', NODE_CONTAINER]));
      }
      if (!existsSync(KUBECONFIG_FILE)) await exportKubeconfig(tools);
      await progress.step('wait for the node', async () => {
        await waitForNode(tools, 120);
        await waitForPodStatuses(tools, 120);
      });
      const name = await run('docker', ['inspect', '--format', '{{.Config.Image}}', NODE_CONTAINER]);
      return nodeImageNamed(name.trim());
    } catch (error) {
      console.log(`The node does not become healthy, so the cluster is created again: ${messageOf(error)}`);
      await deleteKindCluster();
    }
  }
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
    const input = kindConfiguration();
    // The next steps need only the API server, and wait for the node themselves.
    await run(tools.kind, [...args, '--config', '-'], { input, detail, deadline: 600 });
    chmodSync(KUBECONFIG_FILE, 0o600);
  });
  return nodeImage;
}

async function exportKubeconfig(tools: CommandLineTools): Promise<void> {
  mkdirSync(LOCAL_FOLDER, { recursive: true });
  await run(tools.kind, ['export', 'kubeconfig', '--name', CLUSTER_NAME, '--kubeconfig', KUBECONFIG_FILE]);
  chmodSync(KUBECONFIG_FILE, 0o600);
}

async function nodeStarted(): Promise<number> {
  return Date.parse((await run('docker', ['inspect', '--format', '{{.State.StartedAt}}', NODE_CONTAINER])).trim());
}

/**
 * Waits until the node is Ready. The condition counts only after the kubelet has renewed its lease since the node
 * started, because it may be from before.
 */
export async function waitForNode(tools: CommandLineTools, deadline: number): Promise<void> {
  const kubectl = kubectlWith(tools.kubectl);
  const started = await nodeStarted();
  const ready = 'jsonpath={.items[*].status.conditions[?(@.type=="Ready")].status}';
  const renewed = ['-n', 'kube-node-lease', 'get', 'lease', NODE_CONTAINER, '-o', 'jsonpath={.spec.renewTime}'];
  await waitFor('the node to be Ready', deadline, async () => {
    const options = { deadline: 10 };
    if ((await kubectl(['get', 'nodes', '-o', ready], options)).trim() !== 'True') return undefined;
    return Date.parse(await kubectl(renewed, options)) > started ? true : undefined;
  });
}

/**
 * Waits until no pod has a readiness from before the node started: otherwise waiting for a rollout in a restarted node
 * would end immediately.
 */
async function waitForPodStatuses(tools: CommandLineTools, deadline: number): Promise<void> {
  const kubectl = kubectlWith(tools.kubectl);
  const started = await nodeStarted();
  await waitFor('the kubelet to report its pods', deadline, async () => {
    const pods = podsSchema.parse(JSON.parse(await kubectl(['get', 'pods', '--all-namespaces', '--output', 'json'])));
    return pods.items.every((pod) => !isReadySinceBefore(started, pod)) ? true : undefined;
  });
}

/** Removes the node with its volumes. Uses only Docker, so that cleaning up does not need kind. */
export async function deleteKindCluster(): Promise<void> {
  await tryRun('docker', ['rm', '--force', '--volumes', NODE_CONTAINER], { deadline: 120 });
  rmSync(KUBECONFIG_FILE, { force: true });
}

/** Writes a file in the node, readable only by root, unless its content is the same. */
export async function writeNodeFile(path: string, text: string): Promise<void> {
  const present = await tryRun('docker', ['exec', NODE_CONTAINER, 'cat', path]);
  if (present === text) return;
  const script = 'umask 077; mkdir -p "$(dirname "$1")"; cat >"$1"';
  await run('docker', ['exec', '-i', NODE_CONTAINER, 'sh', '-c', script, 'sh', path], { input: text });
}
