import type { Environment } from '../../crds/environment.ts';
import type { Pod } from '../../kubernetes/resource-type.ts';
import { isAsleep } from '../environments/contents.ts';
import { Conflict, NotFound } from '../shared/errors.ts';

/** @throws Conflict while the environment sleeps: its services have no pods */
export function requireAwake(environment: Environment): void {
  if (!isAsleep(environment)) return;
  throw new Conflict(
    'the environment is asleep. `coppice env wake` or POST …/environment/{environmentID}/wake starts it',
  );
}

/**
 * Returns the name of the pod of a service to connect to: the named one, else a ready one before others, and a newer one
 * before older ones.
 * @throws NotFound if the named pod does not run, Conflict if none does
 */
export function servicePod(pods: readonly Pod[], service: string, named?: string): string {
  const running = pods.filter((pod) => isRunning(pod, service));
  const names = running.map(({ metadata }) => metadata.name).sort();
  if (named !== undefined) {
    if (names.includes(named)) return named;
    const those = names.length === 0 ? 'none' : names.join(', ');
    throw new NotFound(`no pod ${named} of the service ${service} runs. These do: ${those}`);
  }
  const [first] = running.sort((a, b) => Number(isReady(b)) - Number(isReady(a)) || createdAt(b) - createdAt(a));
  if (!first) {
    throw new Conflict(`no pod of the service ${service} runs now. GET …/environment/{environmentID} reports why`);
  }
  return first.metadata.name;
}

function isRunning({ metadata, status }: Pod, service: string): boolean {
  if (metadata.deletionTimestamp !== undefined) return false;
  return (
    status?.containerStatuses?.some(({ name, state }) => name === service && state?.running !== undefined) ?? false
  );
}

function isReady({ status }: Pod): boolean {
  return status?.conditions?.some(({ type, status: value }) => type === 'Ready' && value === 'True') ?? false;
}

function createdAt({ metadata }: Pod): number {
  return Date.parse(metadata.creationTimestamp ?? '1970-01-01T00:00:00Z');
}
