import { kubeconfigFile, programsFolder } from './paths.ts';
import type { RunOptions } from './run.ts';
import { run } from './run.ts';
import { addressesOfNobody, podsAndSlicesSchema } from './service-addresses.ts';
import { waitFor } from './wait-for.ts';

/** Runs kubectl against the cluster that is up; the program is the one that findCommandLineTools found. */
export type Kubectl = (args: readonly string[], options?: RunOptions) => Promise<string>;

/** With the kubeconfig of a cluster that is up; the program is the machine's, or the one that findCommandLineTools made. */
export function kubectlOf({ kubeconfig }: { kubeconfig: string }): Kubectl {
  const env = { PATH: `${programsFolder}:${process.env['PATH'] ?? ''}` };
  return (args, options) => run('kubectl', ['--kubeconfig', kubeconfig, ...args], { env, ...options });
}

export function kubectlWith(program: string): Kubectl {
  return (args, options) => run(program, ['--kubeconfig', kubeconfigFile, ...args], options);
}

/** Applies a manifest: YAML text of one or more objects. */
export async function apply(kubectl: Kubectl, manifest: string): Promise<void> {
  const flags = ['--server-side', '--force-conflicts', '--field-manager', 'coppice-up'];
  await kubectl(['apply', ...flags, '--filename', '-'], { input: manifest });
}

/**
 * Waits until every replica of a Deployment is there and ready, and the Services of its namespace look for their pods
 * where these are. What takes seconds may take minutes in a node that was just started again, with everything in it
 * starting beside.
 */
export async function rollout(kubectl: Kubectl, namespace: string, name: string, deadline = 300): Promise<void> {
  const args = ['--namespace', namespace, 'rollout', 'status', `deployment/${name}`, `--timeout=${deadline}s`];
  await kubectl(args, { deadline: deadline + 10 });
  await waitFor(`the Services of ${namespace} to find their pods`, deadline, async () => {
    const listed = await kubectl(['--namespace', namespace, 'get', 'pods,endpointslices', '--output', 'json']);
    const wrong = addressesOfNobody(podsAndSlicesSchema.parse(JSON.parse(listed)));
    if (wrong.length > 0) throw new Error(`they still look for them at ${wrong.join(', ')}`);
    return true;
  });
}
