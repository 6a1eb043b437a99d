import type { ClusterClient } from '../../../kubernetes/client.ts';
import { Event, type Pod } from '../../../kubernetes/resource-type.ts';

/** A container that runs for a shorter time is not asked about, because its check has hardly run yet. */
const graceMs = 10_000;
/** How long an output is cached, unless the container was restarted. */
const keptMs = 60_000;
const maxKept = 1000;
const maxEvents = 50;

interface Kept {
  restarts: number;
  at: number;
  output: string | undefined;
}

/** Reads the output of failed health checks, which the kubelet reports only in events. */
export class CheckOutputs {
  readonly #client: Pick<ClusterClient, 'list'>;
  readonly #kept = new Map<string, Kept>();

  constructor(client: Pick<ClusterClient, 'list'>) {
    this.#client = client;
  }

  /** Returns the output of a pod's last failed check, which is untrusted text; undefined if unknown. */
  async of(pod: Pod, now: Date): Promise<string | undefined> {
    const { uid = '' } = pod.metadata;
    if (!mayHaveFailed(pod, now)) return undefined;
    const restarts = restartsOf(pod);
    const kept = this.#kept.get(uid);
    if (kept && kept.restarts === restarts && now.getTime() - kept.at < keptMs) return kept.output;
    const output = await this.#read(pod);
    this.#kept.delete(uid);
    this.#kept.set(uid, { restarts, at: now.getTime(), output });
    const [oldest] = this.#kept.keys();
    if (this.#kept.size > maxKept && oldest !== undefined) this.#kept.delete(oldest);
    return output;
  }

  async #read({ metadata: { namespace, name, uid } }: Pod): Promise<string | undefined> {
    const fieldSelector = `reason=Unhealthy,regarding.kind=Pod,regarding.name=${name}`;
    const { items } = await this.#client.list(Event, { namespace, fieldSelector, limit: maxEvents });
    const own = items.filter(({ regarding, reason }) => regarding?.uid === uid && reason === 'Unhealthy');
    const newest = own.sort((a, b) => seenAt(a) - seenAt(b)).at(-1);
    return outputOf(newest?.note);
  }
}

/** Extracts the output from `Startup probe failed: <output>`; undefined if it is empty. */
export function outputOf(note: string | undefined): string | undefined {
  const [, output] = /^(?:Startup|Readiness|Liveness) probe (?:failed|errored)[^:]*:(.*)$/s.exec(note ?? '') ?? [];
  const text = output?.trim();
  return text === '' ? undefined : text;
}

/** Returns whether the pod has a failed check with output; a TCP check has none. */
function mayHaveFailed({ spec, status }: Pod, now: Date): boolean {
  const hasCheck = spec?.containers.some(({ startupProbe, readinessProbe }) => {
    const probe = startupProbe ?? readinessProbe;
    return probe?.exec !== undefined || probe?.httpGet !== undefined;
  });
  if (hasCheck !== true) return false;
  return (status?.containerStatuses ?? []).some(({ ready, restartCount, state }) => {
    if (ready) return false;
    const startedAt = Date.parse(state?.running?.startedAt ?? '');
    return restartCount > 0 || now.getTime() - startedAt >= graceMs;
  });
}

function restartsOf({ status }: Pod): number {
  return (status?.containerStatuses ?? []).reduce((sum, { restartCount }) => sum + restartCount, 0);
}

/**
 * Returns when the event was last seen. The kubelet's events have only that time; those of newer recorders have the
 * time of their series, or a single time.
 */
function seenAt({ series, deprecatedLastTimestamp, eventTime }: Event): number {
  return Date.parse(series?.lastObservedTime ?? deprecatedLastTimestamp ?? eventTime);
}
