import type { BuildLogMessage } from '../../build-logs/message.ts';
import { environmentNamespace } from '../../crds/environment-address.ts';
import type { Environment } from '../../crds/environment.ts';
import { formatId, idOf } from '../../crds/ids.ts';
import { LABELS } from '../../crds/labels.ts';
import { CliError } from '../errors.ts';
import type { LogReader } from '../installation.ts';
import { hintOf } from '../suggest.ts';
import type { Kubectl } from './kubectl.ts';

/** The default of the REST API. */
const defaultTail = 100;
/** Maximum pods of one service whose logs are read at once. */
const maxPods = 50;

interface ServiceLogQuery {
  service: string;
  tail?: number | undefined;
  follow: boolean;
}

/** Reads the log of all pods of a service. @throws ApiError or CliError */
export async function readServiceLog(
  kubectl: Pick<Kubectl, 'lines'>,
  environment: Environment,
  { service, tail = defaultTail, follow }: ServiceLogQuery,
  { onMessage, onLine }: Pick<LogReader, 'onMessage' | 'onLine'>,
): Promise<void> {
  requireService(environment, service);
  const args = [
    ...['logs', `--namespace=${environmentNamespace(idOf(environment))}`, `--selector=${LABELS.service}=${service}`],
    ...['--prefix', '--timestamps', `--tail=${tail}`, `--max-log-requests=${maxPods}`, `--follow=${follow}`],
  ];
  let seq = 0;
  for await (const line of kubectl.lines(args)) {
    const message = logMessage(line, service, ++seq);
    await (message ? onMessage(message) : onLine(line));
  }
}

/** @throws CliError if the environment has no such service */
export function requireService(environment: Environment, service: string): void {
  const names = (environment.status?.services ?? []).map(({ name }) => name);
  if (names.includes(service)) return;
  throw new CliError(`${formatId(idOf(environment))} has no service ${service}. ${hintOf(service, names)}`);
}

/** Returns a line of `kubectl logs --prefix --timestamps` as the REST API shows it; undefined for another text. */
export function logMessage(text: string, service: string, seq: number): BuildLogMessage | undefined {
  const [, pod, time, line] = /^\[pod\/([^/\]]+)\/[^\]]+\] (\S+) ?(.*)$/s.exec(text) ?? [];
  if (pod === undefined || time === undefined || line === undefined) return undefined;
  return { seq, time, service, stage: 'run', pod, line };
}
