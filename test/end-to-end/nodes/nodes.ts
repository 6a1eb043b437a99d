import { z } from 'zod';
import { workingNodes } from '../../cluster/kind-cluster.ts';
import type { Kubectl } from '../../cluster/kubectl.ts';
import { Problem } from '../../support/problem.ts';
import { run } from '../../support/run.ts';
import { waitFor } from '../../support/wait-for.ts';

const podsSchema = z.object({
  items: z.array(
    z.looseObject({
      metadata: z.looseObject({ name: z.string(), deletionTimestamp: z.string().optional() }),
      spec: z.looseObject({ nodeName: z.string().optional() }),
      status: z.looseObject({
        podIP: z.string().optional(),
        conditions: z.array(z.looseObject({ type: z.string(), status: z.string() })).optional(),
      }),
    }),
  ),
});

export interface RunningPod {
  name: string;
  node: string;
  address: string;
}

/** Returns the two workers. Throws a Problem on a cluster of another size. */
export async function twoWorkers(): Promise<[string, string]> {
  const [one, other, ...more] = await workingNodes();
  if (one === undefined || other === undefined || more.length > 0) {
    throw new Problem('These tests need two workers: `npm run down`, then `npm run up -- --nodes 3`.');
  }
  return [one, other];
}

/** Returns the ready pods with these labels that are not being deleted. */
export async function readyPods(kubectl: Kubectl, namespace: string, selector: string): Promise<RunningPod[]> {
  const args = ['--namespace', namespace, 'get', 'pods', '--selector', selector, '--output', 'json'];
  const { items } = podsSchema.parse(JSON.parse(await kubectl(args)));
  return items.flatMap(({ metadata, spec, status }) => {
    const isReady = status.conditions?.some((one) => one.type === 'Ready' && one.status === 'True');
    if (!isReady || metadata.deletionTimestamp !== undefined) return [];
    return [{ name: metadata.name, node: spec.nodeName ?? '', address: status.podIP ?? '' }];
  });
}

export const ofService = (service: string): string => `coppice.dev/service=${service}`;

/** Returns the only ready pod of a service, once there is one. */
export function podOf(kubectl: Kubectl, namespace: string, service: string, seconds = 120): Promise<RunningPod> {
  return waitFor(`a pod of ${service} in ${namespace}`, seconds, async () => {
    const [pod, ...others] = await readyPods(kubectl, namespace, ofService(service));
    return others.length === 0 ? pod : undefined;
  });
}

/** Does the work while a node takes no new pods. */
export async function whileCordoned<T>(kubectl: Kubectl, node: string, work: () => Promise<T>): Promise<T> {
  await kubectl(['cordon', node]);
  try {
    return await work();
  } finally {
    await kubectl(['uncordon', node]);
  }
}

/** Moves a service to a node by deleting its pod while the other worker takes none. */
export async function moveTo(kubectl: Kubectl, node: string, namespace: string, service: string): Promise<RunningPod> {
  const [one, other] = await twoWorkers();
  return whileCordoned(kubectl, node === one ? other : one, async () => {
    const pod = await podOf(kubectl, namespace, service);
    if (pod.node === node) return pod;
    await kubectl(['--namespace', namespace, 'delete', 'pod', pod.name], { deadline: 120 });
    return podOf(kubectl, namespace, service);
  });
}

/** Returns the worker that does not run Redis, whose data is bound to its node. */
export async function workerWithoutRedis(kubectl: Kubectl): Promise<string> {
  const [one, other] = await twoWorkers();
  const [redis] = await readyPods(kubectl, 'coppice-system', 'app.kubernetes.io/name=coppice-redis');
  return redis?.node === one ? other : one;
}

/** Stops a node like a power failure: its connections are not closed. */
export async function powerOff(node: string): Promise<void> {
  await run('docker', ['exec', node, 'ip', 'link', 'set', 'eth0', 'down']);
  await run('docker', ['kill', node]);
}

/** Starts a node, and waits until it is Ready and runs its pods. */
export async function powerOn(kubectl: Kubectl, node: string): Promise<void> {
  await run('docker', ['start', node]);
  // The condition is from before until the control plane has noticed the loss.
  await waitFor(`${node} to be Ready`, 240, async () => {
    const unreachable = 'jsonpath={.spec.taints[*].key} {.status.conditions[?(@.type=="Ready")].status}';
    const state = (await kubectl(['get', 'node', node, '--output', unreachable])).trim();
    return state === 'True' ? true : undefined;
  });
}

/** Returns the output of a command in a pod; undefined if it fails. */
export async function inPod(
  kubectl: Kubectl,
  namespace: string,
  pod: string,
  ...command: string[]
): Promise<string | undefined> {
  try {
    return await kubectl(['--namespace', namespace, 'exec', pod, '--', ...command]);
  } catch (error) {
    if (error instanceof Error && /exit code \d/.test(error.message)) return undefined;
    throw error;
  }
}

/** Returns what a pod gets from a URL; undefined if it does not reach it. The pod's image has Node.js. */
export async function fetchedBy(
  kubectl: Kubectl,
  namespace: string,
  pod: string,
  url: string,
): Promise<string | undefined> {
  const script =
    'fetch(process.argv[1], { signal: AbortSignal.timeout(15_000) }).then((one) => one.text()).then(console.log)';
  return (await inPod(kubectl, namespace, pod, 'node', '-e', script, url))?.trim();
}
