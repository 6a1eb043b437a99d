import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from 'pino';
import { LogsFullError } from '../../../build-logs/append-script.ts';
import { LogLostError } from '../../../build-logs/append-plan.ts';
import type { BuildLogWriter, LogLine } from '../../../build-logs/writer.ts';
import { isNotFound } from '../../../kubernetes/api-error.ts';
import type { ClusterClient } from '../../../kubernetes/client.ts';
import { splitStart } from '../../../kubernetes/log-timestamp.ts';
import type { Pod } from '../../../kubernetes/resource-type.ts';
import { roleOf } from '../build/job-containers.ts';
import { LineFlusher } from '../../shared/line-flusher.ts';

export interface ContainerLogsOptions {
  client: Pick<ClusterClient, 'podLog'>;
  openWriter: () => Promise<BuildLogWriter>;
  /** Returns the current pod, or undefined if it is gone. */
  currentPod: () => Pod | undefined;
  /** Called when another container's log is complete. */
  onDrained: () => void;
  /** Called when another container has reported that its image is pushed. */
  onPushed: () => void;
  /** Called when Redis has lost lines that it had acknowledged; following then ends. */
  onLost: () => void;
  logger: Logger;
}

/** Each try reads the log from its start, and only the end of another build frees memory. */
const fullRetryMs = 5000;
const retryMs = 500;
/** In characters; longer than the stored part of a line, so that a secret at its end is seen as a whole. */
const maxLine = 64 * 1024;
/**
 * Matches what `buildctl --progress=plain` writes about a pushed image. Lines of build steps have a number and a time
 * before them; a forged line would only cause a query to the registry.
 */
export const PUSHED = /^#\d+ pushing manifest for \S+(?: [\d.]+s)? done$/;

/**
 * Copies the logs of a build's containers into its stream, each line once: a container's log is read from its start,
 * and as many lines are skipped as the stream already has. After a restart of the operator, or a broken stream, it
 * continues exactly where it was.
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

  /** Starts to follow every container of the pod that has started and is not followed yet. */
  follow(pod: Pod): void {
    for (const container of startedContainers(pod)) {
      const source = sourceOf(pod, container);
      if (this.#followed.has(source)) continue;
      this.#followed.set(source, 'following');
      this.#following.set(source, this.#followToEnd(pod, container));
    }
  }

  /** Returns whether everything that the pod's containers wrote is in the stream. */
  isDrained(pod: Pod): boolean {
    return startedContainers(pod).every((container) => this.#followed.get(sourceOf(pod, container)) === 'drained');
  }

  /** Returns whether each container that pushes an image has reported that it did. */
  havePushed(pod: Pod): boolean {
    const pushing = (pod.spec?.containers ?? []).filter(({ name }) => roleOf(name).service !== '');
    return pushing.length > 0 && pushing.every(({ name }) => this.#pushed.has(sourceOf(pod, name)));
  }

  /** Waits up to `timeoutMs` for the logs of containers that have ended. */
  async endedAreDrained(pod: Pod, timeoutMs: number): Promise<void> {
    const ended = startedContainers(pod)
      .filter((container) => isTerminated(pod, container))
      .flatMap((container) => this.#following.get(sourceOf(pod, container)) ?? []);
    const timeout = new AbortController();
    const waited = delay(timeoutMs, undefined, { signal: timeout.signal }).catch(() => undefined);
    await Promise.race([Promise.all(ended), waited]);
    timeout.abort();
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
        logger.debug({ err: error, container }, 'reading the pod log failed; reading it again');
        if (error instanceof LogsFullError) await delay(fullRetryMs);
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
    const flusher = new LineFlusher<LogLine>(
      (lines) => writer.append(source, lines),
      ({ line }) => line,
    );
    const where = roleOf(container);
    const lines = this.#options.client.podLog(
      { namespace, name },
      {
        container,
        follow: true,
        timestamps: true,
        // A partial line would be counted as one, and the next reading would skip all of it.
        wholeLinesOnly: !isLastReading,
        signal: AbortSignal.any([signal, flusher.failed]),
      },
    );
    for await (const text of lines) {
      const line = splitStart(text, maxLine);
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

/** A retried build has another pod, with containers of the same names. */
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
