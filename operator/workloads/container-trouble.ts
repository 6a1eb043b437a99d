import type { Pod } from '../../kubernetes/resource-type.ts';
import { pullTrouble } from './pull-trouble.ts';

type Status = NonNullable<NonNullable<Pod['status']>['containerStatuses']>[number];
type Terminated = NonNullable<NonNullable<Status['state']>['terminated']>;
type Spec = NonNullable<Pod['spec']>['containers'][number];

/**
 * Why a container does not do what it should, in words to act on; undefined when its status says nothing.
 * `isRestarted`: it is meant to run on, and started again whenever it ends.
 */
export function containerTrouble(status: Status, spec: Spec | undefined, isRestarted: boolean): string | undefined {
  const { image, state, lastState, started, ready } = status;
  const waiting = state?.waiting;
  if (waiting?.reason && !['ContainerCreating', 'PodInitializing'].includes(waiting.reason)) {
    const { reason } = waiting;
    const message = waiting.message ?? '';
    const pull = pullTrouble(image, reason, message);
    if (pull !== undefined) return pull;
    if (lastState?.terminated) return restarted(lastState.terminated, spec, started);
    if (/^Create\w*Error$/.test(reason)) return `it cannot be set up (${reason}): ${message}`;
    if (reason === 'RunContainerError') return `it cannot be started: see to its command and its image (${message})`;
    return message === '' ? reason : `${reason} (${message})`;
  }
  if (state?.terminated && isRestarted) return restarted(state.terminated, spec, started);
  if (state?.terminated && state.terminated.exitCode !== 0) return ending(state.terminated, spec);
  if (!state?.running || ready) return undefined;
  // Between two tries of one that crashes it runs for a moment.
  const before = lastState?.terminated ? `; before, ${restarted(lastState.terminated, spec, started)}` : '';
  return `it runs, but is not ready: ${unready(spec)}${before}`;
}

/** It ended, though a service is to run on. */
function restarted(last: Terminated, spec: Spec | undefined, started: boolean | undefined): string {
  // What the kubelet ends itself, by SIGTERM or SIGKILL, it ends because its health check never succeeded.
  const isEndedByCheck = spec?.startupProbe !== undefined && started !== true && [137, 143].includes(last.exitCode);
  if (isEndedByCheck && last.reason !== 'OOMKilled') {
    return `it was ended and started again, for ${checkWords(spec.startupProbe)} did not succeed in time`;
  }
  if (last.exitCode === 0) {
    return 'it ends (exit code 0) and is started again: let it run on, or, if it is to end, say so (restart: "no")';
  }
  return `it ends and is started again: ${ending(last, spec)}`;
}

/** How a container ended, with the end of its log, as the kubelet keeps it in the termination message. */
function ending({ exitCode, reason, message }: Terminated, spec: Spec | undefined): string {
  const limit = spec?.resources?.limits?.['memory'];
  const raise = `raise deploy.resources.limits.memory${limit === undefined ? '' : ` (now ${limit})`}`;
  if (reason === 'OOMKilled') return `it ran out of memory and was killed: ${raise}`;
  if (reason === 'StartError' || reason === 'ContainerCannotRun') {
    return `it cannot be started: see to its command and its image (${lastLines(message)})`;
  }
  const lines = lastLines(message);
  // Not every node tells why it killed.
  if (exitCode === 137 && lines === '') return `it was killed, as happens when it runs out of memory: ${raise}`;
  return lines === '' ? `exit code ${exitCode}` : `exit code ${exitCode}: ${lines}`;
}

type Probe = Spec['readinessProbe'];

function unready(spec: Spec | undefined): string {
  const probe = spec?.startupProbe ?? spec?.readinessProbe;
  if (!probe) return 'it has just started';
  const port = probe.tcpSocket?.port;
  if (port === undefined) return `${checkWords(probe)} has not succeeded yet`;
  return `nothing listens on its port ${String(port)}: let it listen there, on all addresses (0.0.0.0), or mend its ports`;
}

function checkWords(probe: Probe): string {
  const { httpGet, exec } = probe ?? {};
  if (httpGet) return `its health check (GET ${httpGet.path ?? '/'} on port ${String(httpGet.port)})`;
  const command = exec?.command?.join(' ').slice(0, 100);
  return command === undefined ? 'its health check' : `its health check (${command})`;
}

function lastLines(text: string | undefined, count = 5): string {
  return (text ?? '').trimEnd().split('\n').slice(-count).join('\n').slice(-1000);
}
