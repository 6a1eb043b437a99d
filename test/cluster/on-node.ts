import { NODE_CONTAINER } from './kind-cluster.ts';
import { run, tryRun } from '../support/run.ts';

/** Runs a command on the node with the control plane. Returns its output; throws if it fails. */
export function onNode(command: string, ...args: string[]): Promise<string> {
  return run('docker', ['exec', NODE_CONTAINER, command, ...args]);
}

/** Like onNode; returns undefined if the cluster is not the local one, or the command fails. */
export function tryOnNode(command: string, ...args: string[]): Promise<string | undefined> {
  return tryRun('docker', ['exec', NODE_CONTAINER, command, ...args]);
}
