import { KUBECONFIG_FILE, PROGRAMS_FOLDER } from '../support/paths.ts';
import type { RunOptions } from '../support/run.ts';
import { run } from '../support/run.ts';
import { staleAddresses, podsAndSlicesSchema } from './network/service-addresses.ts';
import { waitFor } from '../support/wait-for.ts';

/** Runs kubectl with the kubeconfig of the running cluster; uses the program of findCommandLineTools. */
export type Kubectl = (args: readonly string[], options?: RunOptions) => Promise<string>;

/** Creates a Kubectl for a running cluster; uses the machine's program, or that of findCommandLineTools. */
export function kubectlOf({ kubeconfig }: { kubeconfig: string }): Kubectl {
  const env = { PATH: `${PROGRAMS_FOLDER}:${process.env['PATH'] ?? ''}` };
  return (args, options) => run('kubectl', ['--kubeconfig', kubeconfig, ...args], { env, ...options });
}

export function kubectlWith(program: string): Kubectl {
  return (args, options) => run(program, ['--kubeconfig', KUBECONFIG_FILE, ...args], options);
}

/** Applies a manifest: YAML of one or more objects. */
export async function apply(kubectl: Kubectl, manifest: string): Promise<void> {
  // A server-side apply refuses unknown fields. To validate as well, kubectl reads the schemas of all kinds.
  const flags = ['--server-side', '--force-conflicts', '--field-manager', 'coppice-up', '--validate=ignore'];
  await kubectl(['apply', ...flags, '--filename', '-'], { input: manifest });
}

/**
 * Waits until every replica of a Deployment is ready, and the Services of its namespace use its pods' current
 * addresses. In a restarted node, where everything starts at once, this can take minutes.
 */
export async function rollout(kubectl: Kubectl, namespace: string, name: string, deadline = 300): Promise<void> {
  const args = ['--namespace', namespace, 'rollout', 'status', `deployment/${name}`, `--timeout=${deadline}s`];
  await kubectl(args, { deadline: deadline + 10 });
  await waitFor(`the Services of ${namespace} to use the current addresses of their pods`, deadline, async () => {
    const listed = await kubectl(['--namespace', namespace, 'get', 'pods,endpointslices', '--output', 'json']);
    const wrong = staleAddresses(podsAndSlicesSchema.parse(JSON.parse(listed)));
    if (wrong.length > 0) throw new Error(`they still use ${wrong.join(', ')}`);
    return true;
  });
}
