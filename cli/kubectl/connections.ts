import { requireAwake, servicePod } from '../../api/shell/service-pod.ts';
import { environmentNamespace } from '../../crds/environment-address.ts';
import type { Environment } from '../../crds/environment.ts';
import { idOf } from '../../crds/ids.ts';
import { LABELS } from '../../crds/labels.ts';
import { Pod } from '../../kubernetes/resource-type.ts';
import { DEFAULT_SHELL } from '../../shell-protocol/default-shell.ts';
import { RemoteExit } from '../errors.ts';
import type { ExecRequest, ForwardRequest } from '../installation.ts';
import type { Kubectl } from './kubectl.ts';
import { requireService } from './service-log.ts';

type Runner = Pick<Kubectl, 'text' | 'inherit'>;

/** Runs a command in a container by `kubectl exec`; returns its exit code. @throws ApiError or CliError */
export async function execByKubectl(kubectl: Runner, environment: Environment, request: ExecRequest): Promise<number> {
  const { service, hasTerminal, hasInput, command } = request;
  const at = await podArguments(kubectl, environment, request);
  const words = command.length > 0 ? command : DEFAULT_SHELL;
  const args = [`--stdin=${hasInput}`, `--tty=${hasTerminal}`, `--container=${service}`, '--quiet', ...at];
  return kubectl.inherit(['exec', ...args, '--', ...words]);
}

/** Forwards ports by `kubectl port-forward`, until it ends. @throws ApiError, CliError or RemoteExit */
export async function forwardByKubectl(kubectl: Runner, environment: Environment, request: ForwardRequest) {
  const at = await podArguments(kubectl, environment, request);
  const ports = request.ports.map(({ local, remote }) => `${local === 0 ? '' : local}:${remote}`);
  const code = await kubectl.inherit(['port-forward', ...at, ...ports]);
  if (code !== 0) throw new RemoteExit(code);
}

async function podArguments(
  kubectl: Runner,
  environment: Environment,
  { service, pod }: Pick<ExecRequest, 'service' | 'pod'>,
): Promise<string[]> {
  requireService(environment, service);
  requireAwake(environment);
  const namespace = `--namespace=${environmentNamespace(idOf(environment))}`;
  const selector = `${LABELS.environmentUid}=${environment.metadata.uid},${LABELS.service}=${service}`;
  const text = await kubectl.text(['get', Pod.plural, namespace, `--selector=${selector}`, '--output=json']);
  const { items } = JSON.parse(text) as { items: Pod[] };
  return [namespace, `pod/${servicePod(items, service, pod)}`];
}
