import { chmodSync, existsSync, mkdirSync, rmSync } from 'node:fs';
import { stringify } from 'yaml';
import type { CommandLineTools } from './command-line-tools.ts';
import { nodeImageNamed } from './node-image.ts';
import type { NodeImage } from './node-image.ts';
import { kubectlWith } from './kubectl.ts';
import { kubeconfigFile, localFolder } from './paths.ts';
import { isReadySinceBefore, podsSchema } from './pod-readiness.ts';
import { messageOf } from './problem.ts';
import type { Progress } from './progress.ts';
import { run, tryRun } from './run.ts';
import { waitFor } from './wait-for.ts';

export const clusterName = 'coppice';
export const nodeContainer = `${clusterName}-control-plane`;
export const ingressPort = 8080;

/** Returns whether there is a cluster, running or not. */
export async function hasNode(): Promise<boolean> {
  return (await nodeState()) !== 'none';
}

/** 'none', or what Docker says of the node's container: running, exited, … */
async function nodeState(): Promise<string> {
  const state = await tryRun('docker', ['inspect', '--format', '{{.State.Status}}', nodeContainer]);
  return state?.trim() ?? 'none';
}

/** Returns kind's configuration, the same for the official node image and for one that was built locally. */
function kindConfiguration(): string {
  const controllerManager = { 'kube-api-qps': '200', 'kube-api-burst': '400', 'concurrent-namespace-syncs': '40' };
  const extraArgs = Object.entries({ 'enable-hostpath-provisioner': 'true', ...controllerManager });
  const patches = [
    {
      kind: 'ClusterConfiguration',
      // Its defaults, and not Coppice, would bound a thousand environments.
      controllerManager: { extraArgs: extraArgs.map(([name, value]) => ({ name, value })) },
    },
    // On cgroup v1 the kubelet refuses to start otherwise; elsewhere it means nothing.
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
        extraPortMappings: [{ containerPort: 80, hostPort: ingressPort, listenAddress: '127.0.0.1' }],
      },
    ],
  });
}

/**
 * Sees that the cluster is there and healthy. A node that is stopped (the machine or dockerd was restarted) is started
 * again; one that does not get healthy then is made anew. Answers the image that the node was made from.
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
        await progress.step('start the stopped node again', () => run('docker', ['start', nodeContainer]));
      }
      if (!existsSync(kubeconfigFile)) await exportKubeconfig(tools);
      await progress.step('wait for the node', async () => {
        await waitForNode(tools, 120);
        await waitForPodStatuses(tools, 120);
      });
      const name = await run('docker', ['inspect', '--format', '{{.Config.Image}}', nodeContainer]);
      return nodeImageNamed(name.trim());
    } catch (error) {
      console.log(`The node does not get healthy, so the cluster is made anew: ${messageOf(error)}`);
      await deleteKindCluster();
    }
  }
  const nodeImage = await image();
  mkdirSync(localFolder, { recursive: true });
  await progress.step('create the kind cluster', async (detail) => {
    const args = [
      'create',
      'cluster',
      '--name',
      clusterName,
      '--image',
      nodeImage.name,
      '--kubeconfig',
      kubeconfigFile,
    ];
    const input = kindConfiguration();
    // What comes next needs the API server, and waits for the node by itself.
    await run(tools.kind, [...args, '--config', '-'], { input, detail, deadline: 600 });
    chmodSync(kubeconfigFile, 0o600);
  });
  return nodeImage;
}

async function exportKubeconfig(tools: CommandLineTools): Promise<void> {
  mkdirSync(localFolder, { recursive: true });
  await run(tools.kind, ['export', 'kubeconfig', '--name', clusterName, '--kubeconfig', kubeconfigFile]);
  chmodSync(kubeconfigFile, 0o600);
}

async function nodeStarted(): Promise<number> {
  return Date.parse((await run('docker', ['inspect', '--format', '{{.State.StartedAt}}', nodeContainer])).trim());
}

/** Ready counts once the kubelet has renewed its lease since the node started: until then it is from before. */
export async function waitForNode(tools: CommandLineTools, deadline: number): Promise<void> {
  const kubectl = kubectlWith(tools.kubectl);
  const started = await nodeStarted();
  const ready = 'jsonpath={.items[*].status.conditions[?(@.type=="Ready")].status}';
  const renewed = ['-n', 'kube-node-lease', 'get', 'lease', nodeContainer, '-o', 'jsonpath={.spec.renewTime}'];
  await waitFor('the node to be Ready', deadline, async () => {
    const options = { deadline: 10 };
    if ((await kubectl(['get', 'nodes', '-o', ready], options)).trim() !== 'True') return undefined;
    return Date.parse(await kubectl(renewed, options)) > started ? true : undefined;
  });
}

/**
 * Waits until no pod is called ready for what it was before the node started: in a node just started again a rollout
 * that waits for a Deployment would else end at once.
 */
async function waitForPodStatuses(tools: CommandLineTools, deadline: number): Promise<void> {
  const kubectl = kubectlWith(tools.kubectl);
  const started = await nodeStarted();
  await waitFor('the kubelet to look at its pods again', deadline, async () => {
    const pods = podsSchema.parse(JSON.parse(await kubectl(['get', 'pods', '--all-namespaces', '--output', 'json'])));
    return pods.items.every((pod) => !isReadySinceBefore(started, pod)) ? true : undefined;
  });
}

/** Removes the node with its volumes. By Docker alone, so that no kind is needed to clean up. */
export async function deleteKindCluster(): Promise<void> {
  await tryRun('docker', ['rm', '--force', '--volumes', nodeContainer], { deadline: 120 });
  rmSync(kubeconfigFile, { force: true });
}

/** Writes a file into the node, readable by root alone, unless it says the same already. */
export async function writeNodeFile(path: string, text: string): Promise<void> {
  const present = await tryRun('docker', ['exec', nodeContainer, 'cat', path]);
  if (present === text) return;
  const script = 'umask 077; mkdir -p "$(dirname "$1")"; cat >"$1"';
  await run('docker', ['exec', '-i', nodeContainer, 'sh', '-c', script, 'sh', path], { input: text });
}
