import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from 'pino';
import { LogLostError } from '../../build-logs/plan.ts';
import type { BuildLogWriter, LogLine } from '../../build-logs/writer.ts';
import { isNotFound } from '../../kubernetes/api-error.ts';
import type { ClusterClient } from '../../kubernetes/client.ts';
import type { Pod } from '../../kubernetes/resource-type.ts';
import { roleOf } from './job-containers.ts';
import { LineFlusher } from '../line-flusher.ts';

export interface ContainerLogsOptions {
  client: Pick<ClusterClient, 'podLog'>;
  openWriter: () => Promise<BuildLogWriter>;
  /** The pod as it now is, or undefined when it is gone. */
  currentPod: () => Pod | undefined;
  /** Called when one more container's log is complete. */
  onDrained: () => void;
  /** Called when one more container has said that its image is in the registry. */
  onPushed: () => void;
  /** Called, and following ends, when Redis has lost lines that it had taken. */
  onLost: () => void;
  logger: Logger;
}

const retryMs = 500;
/** Characters; more than the stream keeps of a line, and so much more that a secret at its end is seen whole. */
const longestLine = 64 * 1024;
/**
 * What `buildctl --progress=plain` writes of an image that it has pushed. Before each line of a build step it puts a number
 * and a time; and whoever could write such a line would but have the registry asked.
 */
export const PUSHED = /^#\d+ pushing manifest for \S+(?: [\d.]+s)? done$/;

/**
 * Carries the logs of a build's containers into its stream, each line once: a container's log is read from its
 * beginning, and as many lines are skipped as the stream already has of it. So an operator that was killed, or a
 * stream that broke, goes on exactly where it was.
 */
export class ContainerLogs {
  readonly #options: ContainerLogsOptions;
  readonly #followed = new Map<string, 'following' | 'drained'>();
  readonly #following = new Map<string, Promise<void>>();
  readonly #pushed = new Set<string>();
  readonly #stopping = new AbortController();

  constructor(options: ContainerLogsOptions) {
    this.#options = options;
  }

  /** Begins to follow every container of the pod that has started and is not followed yet. */
  follow(pod: Pod): void {
    for (const container of startedContainers(pod)) {
      const source = sourceOf(pod, container);
      if (this.#followed.has(source)) continue;
      this.#followed.set(source, 'following');
      this.#following.set(source, this.#followToEnd(pod, container));
    }
  }

  /** Whether all that the pod's containers wrote is in the stream. */
  isDrained(pod: Pod): boolean {
    return startedContainers(pod).every((container) => this.#followed.get(sourceOf(pod, container)) === 'drained');
  }

  /** Whether each of the pod's containers that push an image has said that it is there. */
  havePushed(pod: Pod): boolean {
    const pushing = (pod.spec?.containers ?? []).filter(({ name }) => roleOf(name).service !== '');
    return pushing.length > 0 && pushing.every(({ name }) => this.#pushed.has(sourceOf(pod, name)));
  }

  /** Waits for the logs of the containers that have ended, up to `patienceMs`. */
  async endedAreDrained(pod: Pod, patienceMs: number): Promise<void> {
    const ended = startedContainers(pod)
      .filter((container) => isTerminated(pod, container))
      .flatMap((container) => this.#following.get(sourceOf(pod, container)) ?? []);
    const patience = new AbortController();
    const waited = delay(patienceMs, undefined, { signal: patience.signal }).catch(() => undefined);
    await Promise.race([Promise.all(ended), waited]);
    patience.abort();
  }

  stop(): void {
    this.#stopping.abort();
  }

  async #followToEnd(pod: Pod, container: string): Promise<void> {
    const { currentPod, logger, onDrained, onLost } = this.#options;
    const { signal } = this.#stopping;
    const isStopped = () => signal.aborted;
    while (!isStopped()) {
      const now = currentPod();
      const isLastReading = now?.metadata.name !== pod.metadata.name || isTerminated(now, container);
      try {
        await this.#readOnce(pod, container, isLastReading, signal);
        if (isLastReading) break;
      } catch (error) {
        if (isStopped() || isNotFound(error)) break;
        if (error instanceof LogLostError) {
          this.stop();
          onLost();
          return;
        }
        logger.debug({ err: error, container }, 'the pod log broke off, reading it again');
      }
      await delay(retryMs);
    }
    if (isStopped()) return;
    this.#followed.set(sourceOf(pod, container), 'drained');
    onDrained();
  }

  async #readOnce(pod: Pod, container: string, isLastReading: boolean, signal: AbortSignal): Promise<void> {
    const writer = await this.#options.openWriter();
    const { namespace, name } = pod.metadata;
    const source = sourceOf(pod, container);
    let skip = writer.linesWritten(source);
    const flusher = new LineFlusher<LogLine>((lines) => writer.append(source, lines));
    const where = roleOf(container);
    const lines = this.#options.client.podLog(
      { namespace, name },
      {
        container,
        follow: true,
        timestamps: true,
        // Half a line would count as one, and the next reading would skip all of it.
        wholeLinesOnly: !isLastReading,
        signal: AbortSignal.any([signal, flusher.failed]),
      },
    );
    for await (const text of lines) {
      const line = splitTimestamp(text.slice(0, longestLine));
      if (!line) {
        this.#options.logger.debug({ container, text: text.slice(0, 200) }, 'no line of the container');
        continue;
      }
      if (PUSHED.test(line.line)) this.#hasPushed(source);
      if (skip-- > 0) continue;
      const paced = flusher.add({ ...where, ...line });
      if (paced) await paced;
    }
    await flusher.finish();
  }

  #hasPushed(source: string): void {
    if (this.#pushed.has(source)) return;
    this.#pushed.add(source);
    this.#options.onPushed();
  }
}

/**
 * The kubelet puts the time before each line, `2026-01-01T00:00:00.000000000Z text`. What has none is no line of the
 * container, and another reading may not have it: the kubelet's own words, such as «failed to create fsnotify watcher»,
 * or what follows the first MiB of a line. Counted, it would cost another line when the log is read again.
 */
export function splitTimestamp(text: string): { time: string; line: string } | undefined {
  const [, time, line] = /^(\d{4}-\d\d-\d\dT\S+) ?(.*)$/s.exec(text) ?? [];
  return time === undefined ? undefined : { time, line: line ?? '' };
}

/** A build that is tried again has another pod, with containers of the same names. */
function sourceOf({ metadata }: Pod, container: string): string {
  return `${metadata.name}/${container}`;
}

function statuses(pod: Pod) {
  return [...(pod.status?.initContainerStatuses ?? []), ...(pod.status?.containerStatuses ?? [])];
}

function startedContainers(pod: Pod): string[] {
  return statuses(pod)
    .filter(({ state }) => state?.running ?? state?.terminated?.startedAt)
    .map(({ name }) => name);
}

function isTerminated(pod: Pod, container: string): boolean {
  return statuses(pod).some(({ name, state }) => name === container && state?.terminated !== undefined);
}
