import { setTimeout as sleep } from 'node:timers/promises';
import { waitFor } from '../support/wait-for.ts';
import type { Harness } from '../end-to-end/harness.ts';
import {
  PROXY,
  requireFailedByProxy,
  requireJumped,
  throughProxy,
  withJumpingClock,
  type Deployment,
} from './disturb.ts';
import type { Sizes } from './fault-world.ts';
import { killApisOneByOne, killLeader, withTwoOperators } from './replicas.ts';
import { onNode } from '../cluster/on-node.ts';

type Kubectl = Harness['kubectl'];

export interface Fault {
  /** Prepares the fault before any environment exists. Returns a function that reverts it. */
  prepare?: (kubectl: Kubectl) => Promise<() => Promise<void>>;
  /** Injects the fault, and resolves when it is over; killed parts may still be restarting. */
  inject: (kubectl: Kubectl) => Promise<void>;
  /** Throws if the fault did not happen. */
  requireHarm?: (kubectl: Kubectl) => Promise<void>;
  /** Whether it ends running builds, which are retried and have both attempts in their logs. */
  endsBuilds?: boolean;
  /** Whether an expired API token may be accepted, because the clock is behind. */
  takesExpired?: boolean;
  /** Numbers of environments, if not the default. */
  sizes?: Partial<Sizes>;
  /** Seconds after the fault within which everything must have settled; 300 by default. */
  withinSeconds?: number;
}

const awaySeconds = 30;

/** Signals processes of the node, in any container, by a pattern of their command lines. */
const signal = (name: 'KILL' | 'STOP' | 'CONT' | 'USR2', pattern: string) =>
  onNode('pkill', `-${name}`, '--full', pattern);

const killed =
  (...patterns: string[]): Fault['inject'] =>
  async () => {
    await Promise.all(patterns.map((pattern) => signal('KILL', pattern)));
  };

/** Connections stay open, but nothing arrives: neither a response nor a close. */
const silent =
  (pattern: string): Fault['inject'] =>
  async () => {
    await signal('STOP', pattern);
    await sleep(awaySeconds * 1000);
    await signal('CONT', pattern);
  };

const gitServerAway: Fault['inject'] = async (kubectl) => {
  const scale = ['--namespace', 'git', 'scale', 'deployment/git', '--replicas'];
  await kubectl([...scale, '0']);
  await sleep(awaySeconds * 1000);
  await kubectl([...scale, '1']);
};

const describe =
  (pattern: string): Fault['inject'] =>
  async () => {
    await signal('USR2', pattern);
  };

/** The operator and the API connect through a proxy, which fails from the fault to the end. */
const proxied = (fault: 'conflicts' | 'gone' | 'silent'): Fault => ({
  prepare: (kubectl) => throughProxy(kubectl, fault),
  inject: describe(`^${PROXY}`),
  requireHarm: requireFailedByProxy,
});

const clockJumps = (deployment: Deployment, seconds: number): Fault => ({
  prepare: (kubectl) => withJumpingClock(kubectl, deployment, seconds),
  inject: describe(`^${processes[deployment]}`),
  requireHarm: (kubectl) => requireJumped(kubectl, deployment),
});

/**
 * Stops the API server: connections are refused, and open ones closed. Removes its manifest from the kubelet, which
 * starts it when the manifest is back; the fault is over when the API server is ready.
 */
const apiServerAway: Fault['inject'] = async (kubectl) => {
  const file = '/etc/kubernetes/manifests/kube-apiserver.yaml';
  const aside = '/root/kube-apiserver.yaml';
  await onNode('mv', file, aside);
  try {
    await waitFor('the API server to have ended', 90, async () => {
      const running = await onNode('sh', '-c', `pgrep --full '${apiServer}' || true`);
      return running.trim() === '' ? true : undefined;
    });
    await sleep(awaySeconds * 1000);
  } finally {
    await onNode('mv', aside, file);
  }
  await waitFor('the API server to be ready again', 180, () => kubectl(['get', '--raw', '/readyz']));
};

const operator = 'node operator/main.ts';
const api = 'node api/main.ts';
const processes: Record<Deployment, string> = { 'coppice-operator': operator, 'coppice-api': api };
const apiServer = '^kube-apiserver';
const redis = 'valkey-server';
const builder = 'buildkitd';

/** Faults that are injected while environments go through their moves. */
export const FAULTS: ReadonlyMap<string, Fault> = new Map<string, Fault>([
  ['undisturbed', { inject: () => Promise.resolve() }],
  ['operator-killed', { inject: killed(operator) }],
  ['api-killed', { inject: killed(api) }],
  ['leader-killed', { prepare: withTwoOperators, inject: killLeader }],
  ['api-killed-one-by-one', { inject: killApisOneByOne }],
  ['redis-killed', { inject: killed(redis) }],
  ['builder-killed', { inject: killed(builder), endsBuilds: true }],
  ['operator-redis-and-builder-killed', { inject: killed(operator, redis, builder), endsBuilds: true }],
  ['api-server-killed', { inject: killed(apiServer) }],
  ['api-server-silent', { inject: silent(apiServer) }],
  ['api-server-away', { inject: apiServerAway }],
  ['git-server-away', { inject: gitServerAway }],
  ['conflicts', proxied('conflicts')],
  ['watches-gone', proxied('gone')],
  ['watches-silent', proxied('silent')],
  ['clock-ahead', clockJumps('coppice-operator', 3600)],
  ['clock-behind', clockJumps('coppice-operator', -3600)],
  ['api-clock-ahead', clockJumps('coppice-api', 3600)],
  ['api-clock-behind', { ...clockJumps('coppice-api', -3600), takesExpired: true }],
  ['crowd', { inject: killed(operator), sizes: { moving: 150, running: 50 }, withinSeconds: 480 }],
]);
