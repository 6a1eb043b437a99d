import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { BuildLogResult } from '../../build-logs/message.ts';
import { LogLostError } from '../../build-logs/plan.ts';
import type { BuildLogWriter, LogLine } from '../../build-logs/writer.ts';
import type { ClusterClient } from '../../kubernetes/client.ts';
import type { Pod } from '../../kubernetes/resource-type.ts';
import { ContainerLogs } from './container-logs.ts';

export interface LogSessionOptions {
  client: Pick<ClusterClient, 'podLog'>;
  openWriter: () => Promise<BuildLogWriter>;
  /** The pod as it now is, or undefined when it is gone. */
  currentPod: () => Pod | undefined;
  /** Called when one more container's log is complete. */
  onDrained: () => void;
  /** Called when one more container has said that its image is in the registry. */
  onPushed: () => void;
  /** Called when the end message is written. */
  onEnded: () => Promise<void>;
  logger: Logger;
  /** For so long what is written holds the build up; then it goes on beside it. Default 2 s. */
  holdMs?: number;
}

const retryMs = 500;
/** For so long the end of a log waits for what is written again. */
const drainPatienceMs = 10_000;
/** For so long a message is kept for a Redis that does not answer. */
const patienceMs = 10 * 60_000;

/**
 * One build's log: the logs of its containers, lines of Coppice's own, the end message. Redis being away holds no build
 * up: what could not be written is tried again. When Redis has lost what it had taken, all is written again that the
 * pod, or this session, still has.
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

  /** Adds a line of Coppice's own, once for each key. Does not throw. */
  note(key: string, line: LogLine): Promise<void> {
    this.#notes.set(key, line);
    return this.#insist((writer) => writer.appendOnce(key, line));
  }

  /** Adds all lines of a source that writes no more, once for each source. Does not throw. */
  keep(source: string, lines: readonly LogLine[]): Promise<void> {
    this.#kept.set(source, lines);
    return this.#insist((writer) => appendMissing(writer, source, lines));
  }

  /** Adds the end message. Does not throw. */
  end(result: BuildLogResult, message: string): Promise<void> {
    return this.#insist(async (writer) => {
      await writer.end(result, message);
      await this.#options.onEnded();
    });
  }

  /** Begins to follow every container of the pod that has started and is not followed yet. */
  follow(pod: Pod): void {
    this.#containers.follow(pod);
  }

  /** Whether all that the pod's containers wrote is in the stream. */
  isDrained(pod: Pod): boolean {
    return this.#containers.isDrained(pod);
  }

  /** Whether each of the pod's containers that push an image has said that it is there. */
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
      onLost: () => void this.#beginAnew(),
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

  /** Tries at once, and when Redis does not take it, or not soon, goes on in the background. */
  async #insist(write: (writer: BuildLogWriter) => Promise<void>): Promise<void> {
    const attempt = async () => {
      const writer = this.#open();
      try {
        await write(await writer);
      } catch (error) {
        if (!(error instanceof LogLostError)) throw error;
        if (this.#writer === writer) this.#writingAgain = this.#beginAnew();
        await this.#writingAgain;
        await write(await this.#open());
      }
    };
    const tried = attempt().catch((error: unknown) => {
      this.#options.logger.warn({ err: error }, 'the build log cannot be written, trying again');
      void this.#repeat(attempt);
    });
    const patience = new AbortController();
    const held = delay(this.#options.holdMs ?? 2000, undefined, { signal: patience.signal }).catch(() => undefined);
    await Promise.race([tried, held]);
    patience.abort();
    // Whoever ends the log would cut short what is read again from the pod.
    await this.#writingAgain;
  }

  /** Writes again what Redis has lost: the notes, and the containers' logs; those that have ended are waited for. */
  async #beginAnew(): Promise<void> {
    this.#options.logger.warn('Redis has lost a part of the build log: it is written again from the pod');
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
    await this.#containers.endedAreDrained(pod, drainPatienceMs);
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
}

async function appendMissing(writer: BuildLogWriter, source: string, lines: readonly LogLine[]): Promise<void> {
  const missing = lines.slice(writer.linesWritten(source));
  if (missing.length > 0) await writer.append(source, missing);
}
