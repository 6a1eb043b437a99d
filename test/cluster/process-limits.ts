import { z } from 'zod';
import type { Kubectl } from './kubectl.ts';

const nodesSchema = z.object({ items: z.array(z.object({ metadata: z.object({ name: z.string() }) })) });
const configurationSchema = z.object({ kubeletconfig: z.object({ podPidsLimit: z.number().default(-1) }) });

/**
 * Returns the names of the nodes whose kubelet does not limit the processes of a pod. Requires the permission
 * `nodes/proxy`, which permits running commands in every pod: the cluster's administrator has it, but the operator must
 * not.
 */
export async function nodesWithoutProcessLimit(kubectl: Kubectl): Promise<string[]> {
  const { items } = nodesSchema.parse(JSON.parse(await kubectl(['get', 'nodes', '--output', 'json'])));
  const limits = await Promise.all(
    items.map(async ({ metadata: { name } }) => {
      const answer = await kubectl(['get', '--raw', `/api/v1/nodes/${name}/proxy/configz`]);
      return { name, limit: configurationSchema.parse(JSON.parse(answer)).kubeletconfig.podPidsLimit };
    }),
  );
  return limits.filter(({ limit }) => limit <= 0).map(({ name }) => name);
}

/** Logs a warning when one service could exhaust the processes of a node. Never fails. */
export async function warnOfUnlimitedProcesses(kubectl: Kubectl): Promise<void> {
  let text: string;
  try {
    const nodes = await nodesWithoutProcessLimit(kubectl);
    if (nodes.length === 0) return;
    text = `Pods on ${nodes.join(', ')} can start as many processes as they like: one service can stop the node. Set podPidsLimit in the kubelet's configuration.`;
  } catch (error) {
    text = `Whether the kubelet limits the processes of a pod (podPidsLimit) could not be read: ${error instanceof Error ? error.message : String(error)}`;
  }
  console.warn(`Warning: ${text}`);
}
