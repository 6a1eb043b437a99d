import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { BuildLogResult } from '../../build-logs/message.ts';
import type { BuildLogWriter, LogLine } from '../../build-logs/writer.ts';
import { isNotFound } from '../../kubernetes/api-error.ts';
import type { ClusterClient } from '../../kubernetes/client.ts';
import type { Pod } from '../../kubernetes/resource-type.ts';
import { CLONE_CONTAINER } from './job.ts';

export interface LogSessionOptions {
  client: Pick<ClusterClient, 'podLog'>;
  openWriter: () => Promise<BuildLogWriter>;
  /** The pod as it now is, or undefined when it is gone. */
  currentPod: () => Pod | undefined;
  /** Called when one more container's log is complete. */
  onDrained: () => void;
  logger: Logger;
}

const retryMs = 500;
const mostBuffered = 5000;
/** Characters; more than the stream keeps of a line. */
const longestLine = 20_000;
/** For so long a message is kept for a Redis that does not answer. */
const patienceMs = 10 * 60_000;

/**
 * Carries the logs of one build's containers into its Redis stream, each line once: a container's log is read from its
 * beginning, and as many lines are skipped as the stream already has of it. So an operator that was killed, or a
 * stream that broke, goes on exactly where it was. Redis being away holds no build up.
 */
export class LogSession {
  readonly #options: LogSessionOptions;
  readonly #followed = new Map<string, 'following' | 'drained'>();
  readonly #stopping = new AbortController();
  #writer: Promise<BuildLogWriter> | undefined;

  constructor(options: LogSessionOptions) {
    this.#options = options;
  }

  /** Adds a line of Coppice's own, once for each key. Does not throw. */
  note(key: string, line: LogLine): Promise<void> {
    return this.#insist((writer) => writer.appendOnce(key, line));
  }

  /** Adds the end message. Does not throw. */
  end(result: BuildLogResult, message: string): Promise<void> {
    return this.#insist((writer) => writer.end(result, message));
  }

  /** Begins to follow every container of the pod that has started and is not followed yet. */
  follow(pod: Pod): void {
    for (const container of startedContainers(pod)) {
      if (this.#followed.has(container)) continue;
      this.#followed.set(container, 'following');
      void this.#followToEnd(pod, container);
    }
  }

  /** Whether all that the pod's containers wrote is in the stream. */
  isDrained(pod: Pod): boolean {
    return startedContainers(pod).every((container) => this.#followed.get(container) === 'drained');
  }

  stop(): void {
    this.#stopping.abort();
  }

  #open(): Promise<BuildLogWriter> {
    if (!this.#writer) {
      this.#writer = this.#options.openWriter();
      this.#writer.catch(() => {
        this.#writer = undefined;
      });
    }
    return this.#writer;
  }

  /** Tries at once, and when Redis does not take it, again in the background. */
  async #insist(write: (writer: BuildLogWriter) => Promise<void>): Promise<void> {
    const attempt = async () => {
      await write(await this.#open());
    };
    try {
      await attempt();
    } catch (error) {
      this.#options.logger.warn({ err: error }, 'the build log cannot be written, trying again');
      void this.#repeat(attempt);
    }
  }

  async #repeat(attempt: () => Promise<void>): Promise<void> {
    for (let waited = 0; waited < patienceMs; waited += retryMs) {
      await delay(retryMs);
      try {
        await attempt();
        return;
      } catch (error) {
        this.#options.logger.debug({ err: error }, 'the build log still cannot be written');
      }
    }
  }

  async #followToEnd(pod: Pod, container: string): Promise<void> {
    const { signal } = this.#stopping;
    const isStopped = () => signal.aborted;
    while (!isStopped()) {
      const now = this.#options.currentPod();
      const isLastReading = !now || isTerminated(now, container);
      try {
        await this.#readOnce(pod, container, signal);
        if (isLastReading) break;
      } catch (error) {
        if (isStopped() || isNotFound(error)) break;
        this.#options.logger.debug({ err: error, container }, 'the pod log broke off, reading it again');
      }
      await delay(retryMs);
    }
    this.#followed.set(container, 'drained');
    if (!isStopped()) this.#options.onDrained();
  }

  async #readOnce(pod: Pod, container: string, signal: AbortSignal): Promise<void> {
    const writer = await this.#open();
    const { namespace, name } = pod.metadata;
    let skip = writer.linesWritten(container);
    const flusher = new Flusher((lines) => writer.append(container, lines));
    const where = describe(container);
    const lines = this.#options.client.podLog(
      { namespace, name },
      { container, follow: true, timestamps: true, signal },
    );
    for await (const text of lines) {
      if (skip-- > 0) continue;
      await flusher.add({ ...where, ...splitTimestamp(text.slice(0, longestLine)) });
    }
    await flusher.finish();
  }
}

/** Hands lines on in as large groups as come together while the group before is written. */
class Flusher {
  readonly #write: (lines: LogLine[]) => Promise<void>;
  #buffer: LogLine[] = [];
  #writing: Promise<void> | undefined;
  #failure: { error: unknown } | undefined;

  constructor(write: (lines: LogLine[]) => Promise<void>) {
    this.#write = write;
  }

  /** Waits when too much is unwritten, so that the reader is paced. Throws what an earlier write threw. */
  async add(line: LogLine): Promise<void> {
    this.#rethrow();
    this.#buffer.push(line);
    this.#writing ??= this.#drain();
    if (this.#buffer.length >= mostBuffered) await this.#writing;
  }

  async finish(): Promise<void> {
    await this.#writing;
    this.#rethrow();
  }

  #rethrow(): void {
    if (this.#failure) throw new Error('lines could not be written to Redis', { cause: this.#failure.error });
  }

  async #drain(): Promise<void> {
    try {
      while (this.#buffer.length > 0) await this.#write(this.#buffer.splice(0));
    } catch (error) {
      // What follows must not be written: it would take the place of what was lost.
      this.#failure = { error };
    } finally {
      this.#writing = undefined;
    }
  }
}

/** The kubelet puts the time before each line, `2026-01-01T00:00:00.000000000Z text`, but not before its own errors. */
export function splitTimestamp(text: string): { time?: string; line: string } {
  const [, time, line] = /^(\d{4}-\d\d-\d\dT\S+) ?(.*)$/s.exec(text) ?? [];
  return time === undefined ? { line: text } : { time, line: line ?? '' };
}

function describe(container: string): { service: string; stage: string } {
  if (container === CLONE_CONTAINER) return { service: '', stage: 'clone' };
  return { service: container.replace(/^build-/, ''), stage: 'build' };
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
