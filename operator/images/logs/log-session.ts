import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { BuildLogResult } from '../../../build-logs/message.ts';
import { LogLostError } from '../../../build-logs/append-plan.ts';
import type { BuildLogWriter, LogLine } from '../../../build-logs/writer.ts';
import type { ClusterClient } from '../../../kubernetes/client.ts';
import type { Pod } from '../../../kubernetes/resource-type.ts';
import { ContainerLogs } from './container-logs.ts';

export interface LogSessionOptions {
  client: Pick<ClusterClient, 'podLog'>;
  openWriter: () => Promise<BuildLogWriter>;
  /** Returns the current pod, or undefined if it is gone. */
  currentPod: () => Pod | undefined;
  /** Called when another container's log is complete. */
  onDrained: () => void;
  /** Called when another container has reported that its image is pushed. */
  onPushed: () => void;
  /** Called when the end message is written. */
  onEnded: () => Promise<void>;
  logger: Logger;
  /** How long writes delay the build before they continue in the background. Default 2 s. */
  holdMs?: number;
}

const retryMs = 500;
/** How long the end of a log waits for lines that are written again. */
const drainTimeoutMs = 10_000;
/** How long a message is retried while Redis does not respond. */
const timeoutMs = 10 * 60_000;

/**
 * Writes one build's log: the logs of its containers, Coppice's own lines, and the end message. An unavailable Redis
 * does not delay a build: failed writes are retried. If Redis has lost acknowledged lines, everything that the pod or
 * this session still has is written again.
 */
export class LogSession {
  readonly #options: LogSessionOptions;
  readonly #notes = new Map<string, LogLine>();
  readonly #kept = new Map<string, readonly LogLine[]>();
  #writer: Promise<BuildLogWriter> | undefined;
  #writingAgain: Promise<void> | undefined;
  #containers: ContainerLogs;

  constructor(options: LogSessionOptions) {
    this.#options = options;
    this.#containers = this.#newContainerLogs();
  }

  /** Adds a line of Coppice's own, once for each key. Never throws. */
  note(key: string, line: LogLine): Promise<void> {
    this.#notes.set(key, line);
    return this.#insist((writer) => writer.appendOnce(key, line));
  }

  /** Adds all lines of a source that has ended, once for each source. Never throws. */
  keep(source: string, lines: readonly LogLine[]): Promise<void> {
    this.#kept.set(source, lines);
    return this.#insist((writer) => appendMissing(writer, source, lines));
  }

  /** Adds the end message. Never throws. */
  end(result: BuildLogResult, message: string): Promise<void> {
    return this.#insist(async (writer) => {
      await writer.end(result, message);
      await this.#options.onEnded();
    });
  }

  /** Starts to follow every container of the pod that has started and is not followed yet. */
  follow(pod: Pod): void {
    this.#containers.follow(pod);
  }

  /** Returns whether everything that the pod's containers wrote is in the stream. */
  isDrained(pod: Pod): boolean {
    return this.#containers.isDrained(pod);
  }

  /** Returns whether each container that pushes an image has reported that it did. */
  havePushed(pod: Pod): boolean {
    return this.#containers.havePushed(pod);
  }

  stop(): void {
    this.#containers.stop();
  }

  #newContainerLogs(): ContainerLogs {
    return new ContainerLogs({
      ...this.#options,
      openWriter: () => this.#open(),
      onLost: () => void this.#restart(),
    });
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

  /** Writes immediately; if Redis fails or is slow, continues in the background. */
  async #insist(write: (writer: BuildLogWriter) => Promise<void>): Promise<void> {
    const attempt = async () => {
      const writer = this.#open();
      try {
        await write(await writer);
      } catch (error) {
        if (!(error instanceof LogLostError)) throw error;
        if (this.#writer === writer) this.#writingAgain = this.#restart();
        await this.#writingAgain;
        await write(await this.#open());
      }
    };
    const tried = attempt().catch((error: unknown) => {
      this.#options.logger.warn({ err: error }, 'the build log cannot be written, retrying');
      void this.#repeat(attempt);
    });
    const timeout = new AbortController();
    const held = delay(this.#options.holdMs ?? 2000, undefined, { signal: timeout.signal }).catch(() => undefined);
    await Promise.race([tried, held]);
    timeout.abort();
    // Ending the log would cut off what is being read again from the pod.
    await this.#writingAgain;
  }

  /** Writes again what Redis has lost: notes and the containers' logs; waits for those that have ended. */
  async #restart(): Promise<void> {
    this.#options.logger.warn('Redis has lost a part of the build log; it is written again from the pod');
    this.#containers.stop();
    this.#containers = this.#newContainerLogs();
    this.#writer = undefined;
    try {
      const writer = await this.#open();
      for (const [key, line] of this.#notes) await writer.appendOnce(key, line);
      for (const [source, lines] of this.#kept) await appendMissing(writer, source, lines);
    } catch (error) {
      this.#options.logger.warn({ err: error }, "the build log's first lines cannot be written again");
    }
    const pod = this.#options.currentPod();
    if (!pod) return;
    this.#containers.follow(pod);
    await this.#containers.endedAreDrained(pod, drainTimeoutMs);
  }

  async #repeat(attempt: () => Promise<void>): Promise<void> {
    for (let waited = 0; waited < timeoutMs; waited += retryMs) {
      await delay(retryMs);
      try {
        await attempt();
        return;
      } catch (error) {
        this.#options.logger.debug({ err: error }, 'the build log still cannot be written');
      }
    }
  }
}

async function appendMissing(writer: BuildLogWriter, source: string, lines: readonly LogLine[]): Promise<void> {
  const missing = lines.slice(writer.linesWritten(source));
  if (missing.length > 0) await writer.append(source, missing);
}
