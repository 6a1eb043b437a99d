import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { cleanUpAfter } from '../support/clean-up.ts';
import { Problem } from '../support/problem.ts';
import type { Harness } from '../end-to-end/harness.ts';

type Kubectl = Harness['kubectl'];

const inSystem = ['--namespace', 'coppice-system'];
/** Name of a ConfigMap, a volume, and its folder in the pods. */
const name = 'faults';
const folder = `/${name}`;
const volumeMounts = [{ name, mountPath: folder, readOnly: true }];

export const PROXY = `node ${folder}/api-server-proxy.ts`;
const proxyContainer = 'api-server-proxy';

/** Coppice's parts, by their Deployments, with the main container of each. */
const containers = { 'coppice-operator': 'operator', 'coppice-api': 'api' };
export type Deployment = keyof typeof containers;
const disturbed = Object.keys(containers) as Deployment[];

/** A change of a pod's spec, as a strategic merge patch. */
interface PodPatch {
  initContainers?: object[];
  containers: object[];
}

const deploymentSchema = z.object({
  spec: z.object({
    template: z.object({ spec: z.object({ containers: z.array(z.object({ name: z.string(), image: z.string() })) }) }),
  }),
});

/** Throws a Problem if the pods still have the changes of an interrupted fault. */
export async function requireUndisturbed(kubectl: Kubectl): Promise<void> {
  const left = await kubectl([...inSystem, 'get', 'configmap', name, '--ignore-not-found', '--output', 'name']);
  if (left === '') return;
  throw new Problem(
    "An interrupted fault left its proxy or clock in Coppice's pods. Recreate the cluster with `npm run down` and `npm run up`.",
  );
}

/**
 * Makes these parts connect to the API server through a proxy, which fails in this way. Returns a function that reverts
 * it.
 */
export async function throughProxy(kubectl: Kubectl, fault: string): Promise<() => Promise<void>> {
  return disturb(kubectl, disturbed, (container, image) => ({
    initContainers: [
      {
        name: proxyContainer,
        image,
        restartPolicy: 'Always',
        command: [...PROXY.split(' '), fault],
        securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } },
        volumeMounts,
      },
    ],
    containers: [{ name: container, env: [{ name: 'KUBECONFIG', value: `${folder}/kubeconfig` }], volumeMounts }],
  }));
}

/** Makes a part's clock jump by this many seconds on a signal. Returns a function that reverts it. */
export function withJumpingClock(
  kubectl: Kubectl,
  deployment: Deployment,
  seconds: number,
): Promise<() => Promise<void>> {
  const env = [
    { name: 'NODE_OPTIONS', value: `--import=${folder}/clock-jump.ts` },
    { name: 'CLOCK_JUMP_SECONDS', value: String(seconds) },
  ];
  return disturb(kubectl, [deployment], (container) => ({
    containers: [{ name: container, env, volumeMounts }],
  }));
}

/** Throws if one of the proxies has caused no failure: the run would prove nothing. */
export async function requireFailedByProxy(kubectl: Kubectl): Promise<void> {
  for (const deployment of disturbed) await requireFailures(kubectl, deployment, proxyContainer);
}

/** Throws if the clock of one of a part's replicas has not jumped, or the replica ended because of the setup. */
export const requireJumped = (kubectl: Kubectl, deployment: Deployment): Promise<void> =>
  requireFailures(kubectl, deployment, containers[deployment]);

async function requireFailures(kubectl: Kubectl, deployment: Deployment, container: string): Promise<void> {
  const selector = ['--selector', `app.kubernetes.io/name=${deployment}`];
  const names = await kubectl([...inSystem, 'get', 'pods', ...selector, '--output', 'name']);
  for (const pod of names.split('\n').filter(Boolean)) {
    const log = await kubectl([...inSystem, 'logs', pod, '--container', container]);
    if (!/^failed: /m.test(log)) throw new Error(`${pod}/${container} says of no failure: nothing was injected`);
  }
}

async function disturb(
  kubectl: Kubectl,
  deployments: readonly Deployment[],
  patchOf: (container: string, image: string) => PodPatch,
): Promise<() => Promise<void>> {
  await kubectl(['apply', '--filename', '-'], { input: JSON.stringify(filesForPods()) });
  const rolledOut = (deployment: Deployment) =>
    kubectl([...inSystem, 'rollout', 'status', `deployment/${deployment}`, '--timeout=120s'], { deadline: 130 });
  const undo = async (done: readonly Deployment[]) => {
    for (const one of done) await kubectl([...inSystem, 'rollout', 'undo', `deployment/${one}`]);
    await Promise.all(done.map(rolledOut));
    await kubectl([...inSystem, 'delete', 'configmap', name]);
  };
  const done: Deployment[] = [];
  try {
    for (const deployment of deployments) {
      const text = await kubectl([...inSystem, 'get', 'deployment', deployment, '--output', 'json']);
      const { containers: found } = deploymentSchema.parse(JSON.parse(text)).spec.template.spec;
      const container = containers[deployment];
      const spec = patchOf(container, found.find((one) => one.name === container)?.image ?? '');
      const volumes = [{ name, configMap: { name } }];
      const patch = JSON.stringify({ spec: { template: { spec: { ...spec, volumes } } } });
      await kubectl([...inSystem, 'patch', 'deployment', deployment, '--type=strategic', '--patch', patch]);
      done.push(deployment);
    }
    await Promise.all(done.map(rolledOut));
  } catch (error) {
    return cleanUpAfter(error, () => undo(done));
  }
  return () => undo(done);
}

/** Returns the programs, and a kubeconfig that connects to the proxy, which adds the pod's own token. */
function filesForPods(): object {
  const programs = ['api-server-proxy.ts', 'clock-jump.ts'].map((file) => [
    file,
    readFileSync(join(import.meta.dirname, 'in-pod', file), 'utf8'),
  ]);
  const kubeconfig = {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name, cluster: { server: 'http://127.0.0.1:8001', 'insecure-skip-tls-verify': true } }],
    contexts: [{ name, context: { cluster: name, user: name } }],
    users: [{ name, user: {} }],
    'current-context': name,
  };
  const data = { ...(Object.fromEntries(programs) as object), kubeconfig: JSON.stringify(kubeconfig) };
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace: 'coppice-system' }, data };
}
