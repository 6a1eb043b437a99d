import { schedule as scheduleTask, type ScheduledTask } from 'node-cron';
import type { Logger } from 'pino';
import type { Schedule } from './record.ts';

/** Calls functions when schedules are due, by node-cron's timers. */
export class CronTimers {
  readonly #logger: Logger;
  readonly #tasks: ScheduledTask[] = [];

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  /**
   * Calls `onDue` whenever the schedule is due, from now until stop(). Returns a function that returns the next such
   * time.
   */
  add({ expression, timeZone }: Schedule, onDue: () => void): () => Date {
    const logger = this.#logger;
    const task = scheduleTask(expression, onDue, {
      timezone: timeZone,
      // The process needs no timer to stay alive.
      unref: true,
      logger: {
        info: (message) => logger.info(message),
        warn: (message) => logger.warn(message),
        error: (message, error) => logger.error({ err: error ?? message }, 'a timer of housekeeping failed'),
        debug: (message) => logger.debug({ message }, 'node-cron'),
      },
    });
    // A process that was suspended or too busy at the time runs it late.
    task.on('execution:missed', onDue);
    this.#tasks.push(task);
    return () => {
      const [next] = task.getNextRuns(1);
      if (!next) throw new Error(`the schedule ${expression} is never due`);
      return next;
    };
  }

  async stop(): Promise<void> {
    for (const task of this.#tasks.splice(0)) await task.destroy();
  }
}
