import type { HostEvent, Kind } from './kind.ts';
import type { Hook, HostedRepository } from './repositories.ts';

const timeoutMs = 10_000;

/** Calls every webhook of the repository that includes the event, once each, and records the responses. */
export async function deliver(
  kind: Kind,
  repository: HostedRepository,
  event: HostEvent,
  base: string,
  hooks: readonly Hook[] = repository.hooks,
): Promise<void> {
  await Promise.all(
    hooks.map(async (hook) => {
      const call = kind.call(event, hook, repository, base);
      if (call === undefined) return;
      const started = performance.now();
      const status = await post(hook.url, call.headers, call.body);
      const milliseconds = Math.round(performance.now() - started);
      repository.deliveries.push({ url: hook.url, event: call.event, status, milliseconds });
    }),
  );
}

/** Returns the status of the response; undefined if there was none. */
async function post(url: string, headers: Record<string, string>, body: string): Promise<number | undefined> {
  const signal = AbortSignal.timeout(timeoutMs);
  const answered = fetch(url, { method: 'POST', headers, body, redirect: 'manual', signal });
  return answered.then(
    async (answer) => {
      await answer.body?.cancel();
      return answer.status;
    },
    () => undefined,
  );
}
