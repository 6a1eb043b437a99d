import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { send } from '../api/client.ts';
import type { Usage } from '../api/types.ts';

export interface UsagePoint {
  at: number;
  cpu: number;
  memory: number;
}

/** Points by service, oldest first. */
export type UsageHistory = ReadonlyMap<string, readonly UsagePoint[]>;

/** metrics-server measures every 15 s; the change stream does not report new values. */
const intervalMs = 15_000;
const maxPoints = 60;

/** Reads CPU and memory usage while the page is visible; empty if the cluster does not measure it. */
export function useUsage(path: string, isWanted: boolean): UsageHistory {
  const history = useSignal<UsageHistory>(new Map());
  useEffect(() => {
    if (!isWanted) return undefined;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const ended = new AbortController();
    const measure = async () => {
      const usage =
        document.visibilityState === 'visible'
          ? await send<Usage>('GET', path, { signal: ended.signal, waitsForSignIn: false }).catch(() => undefined)
          : undefined;
      if (ended.signal.aborted || usage?.measured === false) return;
      if (usage) history.value = withPoints(history.peek(), usage);
      timer = setTimeout(() => void measure(), intervalMs);
    };
    void measure();
    return () => {
      ended.abort();
      clearTimeout(timer);
    };
  }, [path, isWanted]);
  return history.value;
}

function withPoints(history: UsageHistory, { at, services }: Usage & { measured: true }): UsageHistory {
  const longer = new Map(history);
  for (const { name, cpu, memory } of services) {
    const points = longer.get(name) ?? [];
    if (points.at(-1)?.at !== at) longer.set(name, [...points, { at, cpu, memory }].slice(-maxPoints));
  }
  return longer;
}
