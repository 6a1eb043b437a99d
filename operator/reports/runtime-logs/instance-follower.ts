import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from 'pino';
import {
  type RuntimeLine,
  RuntimeLogTakenError,
  type RuntimeLogWriter,
  type SourcePosition,
} from '../../../build-logs/runtime-writer.ts';
import { isNotFound } from '../../../kubernetes/api-error.ts';
import type { PodLogOptions } from '../../../kubernetes/client-options.ts';
import type { ClusterClient } from '../../../kubernetes/client.ts';
import { splitStart } from '../../../kubernetes/log-timestamp.ts';
import { LineFlusher } from '../../shared/line-flusher.ts';
import type { Instance } from './instances.ts';
import type { LineQuota } from './line-quota.ts';
import { ResumeFilter } from './resume-filter.ts';

export interface InstanceFollowerOptions {
  client: Pick<ClusterClient, 'podLog'>;
  writer: Pick<RuntimeLogWriter, 'append' | 'position'>;
  service: string;
  quota: LineQuota;
  /** Returns whether the container is still running. */
  isRunning: () => boolean;
  signal: AbortSignal;
  logger: Logger;
}

/** Number of earlier lines that are shown. */
const historyLines = 1000;
const retryMs = 500;
/** Maximum number of characters of a line that are processed; the log stores fewer. */
const maxLine = 8 * 1024;
/**
 * Reading pauses after this many omitted bytes, because counting them would otherwise use all of the operator's CPU
 * time.
 */
const leftOutBytesAtOnce = 512 * 1024;
const leftOutPauseMs = 100;

interface Item {
  line: RuntimeLine;
  position: SourcePosition | undefined;
}

/** Copies the log of one run of a container to the log of its service. */
export class InstanceFollower {
  readonly #instance: Instance;
  readonly #options: InstanceFollowerOptions;
  #position: SourcePosition | undefined;
  #leftOut = 0;

  constructor(instance: Instance, options: InstanceFollowerOptions) {
    this.#instance = instance;
    this.#options = options;
    this.#position = options.writer.position(instance.source);
  }

  /** Reads the existing lines. Throws only RuntimeLogTakenError. */
  async readHistory(): Promise<void> {
    await this.#attempt({ tailLines: historyLines });
  }

  /** Reads new lines until the container has ended or the signal is aborted. Throws only RuntimeLogTakenError. */
  async follow(): Promise<void> {
    const { signal, isRunning } = this.#options;
    while (!signal.aborted) {
      const isLast = !isRunning();
      const isGone = await this.#attempt({ follow: true, ...(!this.#position && { tailLines: historyLines }) });
      if (isLast || isGone) return;
      await delay(retryMs, undefined, { signal }).catch(() => undefined);
    }
  }

  /** Makes one attempt to read; returns true when the pod no longer exists. */
  async #attempt(query: PodLogOptions): Promise<boolean> {
    const { logger, signal } = this.#options;
    try {
      await this.#read(query);
    } catch (error) {
      if (error instanceof RuntimeLogTakenError) throw error;
      if (isNotFound(error)) return true;
      if (!signal.aborted) logger.debug({ err: error, pod: this.#instance.pod }, 'the log stream of a service broke');
    }
    return false;
  }

  async #read(query: PodLogOptions): Promise<void> {
    const { client, writer, quota, signal } = this.#options;
    const { namespace, pod, container, source } = this.#instance;
    const filter = new ResumeFilter(this.#position);
    const write = async (items: readonly Item[]) => {
      const { position } = items.at(-1) ?? {};
      await writer.append(
        source,
        items.map(({ line }) => line),
        position,
      );
      this.#position = position;
    };
    const flusher = new LineFlusher<Item>(write, ({ line }) => line.line);
    const add = (time: string, text: string): Promise<void> | undefined =>
      flusher.add({ line: this.#line(time, text), position: filter.position });
    let timer: NodeJS.Timeout | undefined;
    let bytesLeftOut = 0;
    const sinceTime = this.#position?.time;
    const reading = AbortSignal.any([signal, flusher.failed]);
    const lines = client.podLog(
      { namespace, name: pod },
      { ...query, container, timestamps: true, sinceTime, signal: reading },
    );
    try {
      for await (const text of lines) {
        const stamped = splitStart(text, maxLine);
        if (!stamped || !filter.isNew(stamped.time)) continue;
        const { time, line } = stamped;
        if (quota.admits(line.length)) {
          const paced = add(time, line);
          if (paced) await paced;
          continue;
        }
        this.#leftOut++;
        bytesLeftOut += line.length;
        timer ??= setTimeout(() => {
          timer = undefined;
          this.#reportLeftOut(add, time);
        }, quota.waitMs);
        if (bytesLeftOut < leftOutBytesAtOnce) continue;
        bytesLeftOut = 0;
        await delay(leftOutPauseMs, undefined, { signal });
      }
    } finally {
      clearTimeout(timer);
    }
    if (this.#leftOut > 0) this.#reportLeftOut(add, new Date().toISOString());
    await flusher.finish();
  }

  #reportLeftOut(add: (time: string, text: string) => Promise<void> | undefined, time: string): void {
    const text = `[${this.#leftOut} lines omitted: more than 1 MiB per second]`;
    this.#leftOut = 0;
    try {
      void add(time, text);
    } catch (error) {
      // The next line fails with the same error.
      this.#options.logger.debug({ err: error }, 'the omission of lines cannot be reported');
    }
  }

  #line(time: string, line: string): RuntimeLine {
    return { time, service: this.#options.service, stage: 'run', pod: this.#instance.pod, line };
  }
}
