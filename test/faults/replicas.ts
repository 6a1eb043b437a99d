import { waitFor } from '../support/wait-for.ts';
import type { Harness } from '../end-to-end/harness.ts';

type Kubectl = Harness['kubectl'];

const system = ['--namespace', 'coppice-system'];
const operator = 'deployment/coppice-operator';

async function scaleOperator(kubectl: Kubectl, replicas: number): Promise<void> {
  await kubectl([...system, 'scale', operator, `--replicas=${replicas}`]);
  await kubectl([...system, 'rollout', 'status', operator, '--timeout=120s'], { deadline: 130 });
}

/** Runs two operators, of which one leads. Returns a function that reverts it. */
export async function withTwoOperators(kubectl: Kubectl): Promise<() => Promise<void>> {
  await scaleOperator(kubectl, 2);
  return () => scaleOperator(kubectl, 1);
}

/** Returns the name of the pod whose operator leads: an operator's identity starts with it. */
async function leadingPod(kubectl: Kubectl): Promise<string> {
  const holder = 'jsonpath={.spec.holderIdentity}';
  const [pod = ''] = (await kubectl([...system, 'get', 'lease', 'coppice-operator', '--output', holder])).split('_');
  return pod;
}

const deleteAtOnce = (kubectl: Kubectl, pod: string) =>
  kubectl([...system, 'delete', 'pod', pod, '--grace-period=0', '--force', '--wait=false']);

/** Kills the leading operator with its pod, which releases no Lease; the fault is over when the other one leads. */
export async function killLeader(kubectl: Kubectl): Promise<void> {
  const killed = await leadingPod(kubectl);
  await deleteAtOnce(kubectl, killed);
  await waitFor('the other operator to lead', 60, async () =>
    ['', killed].includes(await leadingPod(kubectl)) ? undefined : true,
  );
}

/** Kills each replica of the API after the one before it was replaced. */
export async function killApisOneByOne(kubectl: Kubectl): Promise<void> {
  const deployment = 'deployment/coppice-api';
  const selector = ['--selector', 'app.kubernetes.io/name=coppice-api', '--output', 'name'];
  const pods = (await kubectl([...system, 'get', 'pods', ...selector])).split('\n').filter(Boolean);
  if (pods.length < 2)
    throw new Error(`coppice-api has ${pods.length} replicas: none can be killed while another runs`);
  for (const pod of pods) {
    await deleteAtOnce(kubectl, pod.replace('pod/', ''));
    await waitFor('the killed replica to be gone', 30, async () => {
      const left = await kubectl([...system, 'get', pod, '--ignore-not-found', '--output', 'name']);
      return left === '' ? true : undefined;
    });
    await kubectl([...system, 'rollout', 'status', deployment, '--timeout=120s'], { deadline: 130 });
  }
}
