import type { Pod } from '../../../kubernetes/resource-type.ts';
import { errorLine, lastLines } from './last-lines.ts';
import type { ContainerStatus, Terminated } from '../../shared/pod-parts.ts';
import { cutAtSpace } from '../../shared/one-line.ts';
import { isEndedByCheck } from './ended-by-check.ts';
import { imagePullDiagnosis } from './image-pull-diagnosis.ts';

type Spec = NonNullable<Pod['spec']>['containers'][number];

/** Enough for a runtime's error report, which states the cause above the stack trace. */
const maxLines = 20;
const maxCommand = 300;

/** Facts about a container that its status does not contain. */
export interface ContainerFacts {
  /** Whether the container is meant to run continuously, and is restarted when it exits. */
  isRestarted: boolean;
  /** Since when the pod has not been ready. */
  unreadySince?: Date | undefined;
  /** Output of the last failed health check. */
  checkOutput?: string | undefined;
  /** Whether it was restarted too recently to count as ready, whatever Kubernetes reports. */
  isRecovering?: boolean | undefined;
}

/** Returns why a container does not run as it should, and what to do; undefined if its status does not show it. */
export function containerDiagnosis(
  status: ContainerStatus,
  spec: Spec | undefined,
  facts: ContainerFacts,
): string | undefined {
  const { image, state, lastState, ready } = status;
  const waiting = state?.waiting;
  const restarted = (last: Terminated) => restartWords(last, status, spec, facts);
  if (waiting?.reason && !['ContainerCreating', 'PodInitializing'].includes(waiting.reason)) {
    const { reason } = waiting;
    const message = waiting.message ?? '';
    const pull = imagePullDiagnosis(image, reason, message);
    if (pull !== undefined) return pull;
    if (lastState?.terminated) return restarted(lastState.terminated);
    if (/^Create\w*Error$/.test(reason))
      return `it cannot be set up. Check what it mounts and its user (${reason}: ${message})`;
    if (reason === 'RunContainerError') return `it cannot be started. Check its command and its image (${message})`;
    return message === '' ? reason : `${reason} (${message})`;
  }
  // On a busy node a container that exited waits as if it were new until it is restarted.
  if (waiting && lastState?.terminated) return restarted(lastState.terminated);
  if (state?.terminated && facts.isRestarted) return restarted(state.terminated);
  if (state?.terminated && state.terminated.exitCode !== 0) return ending(state.terminated, spec);
  if (!state?.running) return undefined;
  if (facts.isRecovering && lastState?.terminated) return restarted(lastState.terminated);
  if (ready && !facts.isRecovering) return undefined;
  // A crashing container runs briefly between two restarts.
  const before = lastState?.terminated ? `; before, ${restarted(lastState.terminated)}` : '';
  return `it runs, but is not ready: ${unready(status, spec, before === '' ? facts.checkOutput : undefined)}${before}`;
}

/** Describes an exit of a container that should run continuously. */
function restartWords(
  last: Terminated,
  { started }: ContainerStatus,
  spec: Spec | undefined,
  facts: ContainerFacts,
): string {
  if (isEndedByCheck(last, spec?.startupProbe, started, facts.unreadySince)) {
    const reason = withOutput(`${checkWords(spec?.startupProbe)} did not succeed in time`, facts.checkOutput);
    const lines = lastLines(last.message ?? '', maxLines);
    return `it was restarted because ${reason}. Correct it, or raise its start_period${lines === '' ? '' : `; its last lines: ${lines}`}`;
  }
  if (last.exitCode === 0) {
    return 'it exits with code 0 and is restarted. Keep it running or, if it is to exit, set restart: "no"';
  }
  return `it exits and is restarted: ${ending(last, spec)}`;
}

/** Describes how a container exited, with the end of its log from the termination message. */
function ending({ exitCode, reason, message }: Terminated, spec: Spec | undefined): string {
  const limit = spec?.resources?.limits?.['memory'];
  const raise = `Raise deploy.resources.limits.memory${limit === undefined ? '' : ` (now ${limit})`}`;
  if (reason === 'OOMKilled') return `it ran out of memory and was killed. ${raise}`;
  if (reason === 'StartError' || reason === 'ContainerCannotRun') {
    return `it cannot be started. Check its command and its image (${lastLines(message ?? '', maxLines)})`;
  }
  const lines = lastLines(message ?? '', maxLines);
  // Not every node reports why it killed a container.
  if (exitCode === 137 && lines === '') return `it was killed, probably because it ran out of memory. ${raise}`;
  return `exit code ${exitCode}${withCause(lines)}`;
}

/** Puts the cause into the first line, which is all that summaries show. */
function withCause(lines: string): string {
  if (lines === '') return '';
  if (!lines.includes('\n')) return `: ${lines}`;
  const cause = errorLine(lines);
  return cause === undefined ? `; its last lines:\n${lines}` : `: ${cause}\nIts last lines:\n${lines}`;
}

type Probe = Spec['readinessProbe'];

function unready({ started }: ContainerStatus, spec: Spec | undefined, output: string | undefined): string {
  const probe = spec?.startupProbe ?? spec?.readinessProbe;
  if (!probe) return 'it has just started';
  const port = probe.tcpSocket?.port;
  if (port !== undefined) {
    return `nothing listens on its port ${String(port)}. Listen there on all addresses (0.0.0.0 and ::), or correct its ports`;
  }
  const hadSuccess = spec?.startupProbe !== undefined && started === true;
  return withOutput(`${checkWords(probe)} ${hadSuccess ? 'fails' : 'has not succeeded yet'}`, output);
}

function withOutput(words: string, output: string | undefined): string {
  return output === undefined ? words : `${words}: ${output}`;
}

function checkWords(probe: Probe): string {
  const { httpGet, exec } = probe ?? {};
  if (httpGet) return `its health check (GET ${httpGet.path ?? '/'} on port ${String(httpGet.port)})`;
  const command = exec?.command && cutAtSpace(exec.command.join(' '), maxCommand);
  return command === undefined ? 'its health check' : `its health check (${command})`;
}
