import { waitFor } from '../support/wait-for.ts';
import type { Harness } from './harness.ts';

/** Runs a command in a pod with Node.js, and returns what it prints. @throws with that if the command fails */
export async function outputInPod(harness: Harness, namespace: string, command: readonly string[]): Promise<string> {
  // The name is unique, because an interrupted run can leave its pod behind.
  const name = `caller-${harness.group}`;
  const at = ['--namespace', namespace];
  await harness.kubectl(['run', name, ...at, '--image=node:24-slim', '--restart=Never', '--', ...command]);
  try {
    const phase = await waitFor('the pod to end', 90, async () => {
      const shown = await harness.kubectl(['get', 'pod', name, ...at, '--output=jsonpath={.status.phase}']);
      return shown === 'Succeeded' || shown === 'Failed' ? shown : undefined;
    });
    const output = await harness.kubectl(['logs', name, ...at]);
    if (phase === 'Failed') throw new Error(`the command failed: ${output}`);
    return output;
  } finally {
    await harness.kubectl(['delete', 'pod', name, ...at, '--wait=false']);
  }
}
