import type { ClusterClient } from '../../../kubernetes/client.ts';
import { Event, type Pod } from '../../../kubernetes/resource-type.ts';

/** A check that has just started to be asked has nothing to tell. */
const GRACE_MS = 10_000;
/** For so long what a check said is not asked for again, unless its container was started again. */
const KEPT_MS = 60_000;
const MAX_KEPT = 1000;
const MAX_EVENTS = 50;

interface Kept {
  restarts: number;
  at: number;
  output: string | undefined;
}

/** What health checks say when they fail: the kubelet reports it in events alone. */
export class CheckOutputs {
  readonly #client: Pick<ClusterClient, 'list'>;
  readonly #kept = new Map<string, Kept>();

  constructor(client: Pick<ClusterClient, 'list'>) {
    this.#client = client;
  }

  /** The output of a pod's check that failed last, as text of the user's program; undefined where nothing is known. */
  async of(pod: Pod, now: Date): Promise<string | undefined> {
    const { uid = '' } = pod.metadata;
    if (!mayHaveFailed(pod, now)) return undefined;
    const restarts = restartsOf(pod);
    const kept = this.#kept.get(uid);
    if (kept && kept.restarts === restarts && now.getTime() - kept.at < KEPT_MS) return kept.output;
    const output = await this.#read(pod);
    this.#kept.delete(uid);
    this.#kept.set(uid, { restarts, at: now.getTime(), output });
    const [oldest] = this.#kept.keys();
    if (this.#kept.size > MAX_KEPT && oldest !== undefined) this.#kept.delete(oldest);
    return output;
  }

  async #read({ metadata: { namespace, name, uid } }: Pod): Promise<string | undefined> {
    const fieldSelector = `reason=Unhealthy,regarding.kind=Pod,regarding.name=${name}`;
    const { items } = await this.#client.list(Event, { namespace, fieldSelector, limit: MAX_EVENTS });
    const own = items.filter(({ regarding, reason }) => regarding?.uid === uid && reason === 'Unhealthy');
    const newest = own.sort((a, b) => seenAt(a) - seenAt(b)).at(-1);
    return outputOf(newest?.note);
  }
}

/** `Startup probe failed: text of the check`; undefined where it said nothing. */
export function outputOf(note: string | undefined): string | undefined {
  const [, output] = /^(?:Startup|Readiness|Liveness) probe (?:failed|errored)[^:]*:(.*)$/s.exec(note ?? '') ?? [];
  const text = output?.trim();
  return text === '' ? undefined : text;
}

/** A check of a connection alone has no output beyond its description. */
function mayHaveFailed({ spec, status }: Pod, now: Date): boolean {
  const hasCheck = spec?.containers.some(({ startupProbe, readinessProbe }) => {
    const probe = startupProbe ?? readinessProbe;
    return probe?.exec !== undefined || probe?.httpGet !== undefined;
  });
  if (hasCheck !== true) return false;
  return (status?.containerStatuses ?? []).some(({ ready, restartCount, state }) => {
    if (ready) return false;
    const startedAt = Date.parse(state?.running?.startedAt ?? '');
    return restartCount > 0 || now.getTime() - startedAt >= GRACE_MS;
  });
}

function restartsOf({ status }: Pod): number {
  return (status?.containerStatuses ?? []).reduce((sum, { restartCount }) => sum + restartCount, 0);
}

/** The kubelet's events have the time of the last one alone; those of newer recorders that of their series, or the one time. */
function seenAt({ series, deprecatedLastTimestamp, eventTime }: Event): number {
  return Date.parse(series?.lastObservedTime ?? deprecatedLastTimestamp ?? eventTime);
}
