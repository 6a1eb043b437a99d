import { nodeContainer } from '../cluster/kind-cluster.ts';
import { run } from '../cluster/run.ts';

/** Runs a command on the cluster's node. Gives what it wrote; throws where it fails. */
export function onNode(command: string, ...args: string[]): Promise<string> {
  return run('docker', ['exec', nodeContainer, command, ...args]);
}
