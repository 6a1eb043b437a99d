import type { Logger } from 'pino';
import type { ReconcileResult } from '../../../kubernetes/controller.ts';
import { oneLine } from '../../shared/one-line.ts';
import { afterRun, planRun, type RunPlan } from './plan.ts';
import {
  taskNameSchema,
  type HousekeepingRecord,
  type HousekeepingTaskName,
  type LastRun,
  type Schedule,
} from './record.ts';

/** What a run reports. */
export interface RunReport {
  /** What was done, for `kubectl`. */
  message: string;
  /** After how many milliseconds the task runs again, even if its schedule is not due by then. */
  repeatAfterMs?: number | undefined;
}

export interface HousekeepingTask {
  schedule: Schedule;
  /** Returns the first time after now at which the schedule is due. */
  nextDue: () => Date;
  /** No run starts before this time. */
  notBefore?: Date | undefined;
  /** Does the work. A run that throws has failed, and is repeated. */
  run: () => Promise<RunReport>;
}

export interface HousekeepingOptions {
  tasks: ReadonlyMap<HousekeepingTaskName, HousekeepingTask>;
  records: {
    read: (name: HousekeepingTaskName) => Promise<HousekeepingRecord | undefined>;
    write: (name: HousekeepingTaskName, record: HousekeepingRecord) => Promise<void>;
  };
  /** Called with what is stored of a task, for metrics. */
  observe: (name: HousekeepingTaskName, record: HousekeepingRecord) => void;
  now: () => Date;
  logger: Logger;
}

const repeatAfterFailureMs = 300_000;
const maxMessageLength = 300;
/** When the schedule was due again while the run was stored. */
const soonMs = 1000;

/** Runs tasks when their schedules are due. The keys of this controller are the tasks' names. */
export class Housekeeping {
  readonly #options: HousekeepingOptions;

  constructor(options: HousekeepingOptions) {
    this.#options = options;
  }

  async reconcile(key: string): Promise<ReconcileResult> {
    const { tasks, records, observe } = this.#options;
    const name = taskNameSchema.parse(key);
    const task = tasks.get(name);
    if (!task) return {};
    const record = await records.read(name);
    if (record) observe(name, record);
    const plan = this.#plan(task, record);
    if ('afterMs' in plan) return { requeueAfterMs: plan.afterMs };
    const next = 'store' in plan ? plan.store : await this.#run(name, task);
    await records.write(name, next);
    observe(name, next);
    const then = this.#plan(task, next);
    return { requeueAfterMs: 'afterMs' in then ? then.afterMs : soonMs };
  }

  #plan({ schedule, nextDue, notBefore }: HousekeepingTask, record: HousekeepingRecord | undefined): RunPlan {
    return planRun({ schedule, record, now: this.#options.now(), due: nextDue(), notBefore });
  }

  /** Runs the task, and returns what is stored then. An operator that ends during the run leaves it to be made up. */
  async #run(name: HousekeepingTaskName, { schedule, nextDue, run }: HousekeepingTask): Promise<HousekeepingRecord> {
    const { now, logger } = this.#options;
    const at = now();
    const after = (outcome: LastRun['outcome'], message: string, repeatAfterMs: number | undefined) => {
      const seconds = Math.round((now().getTime() - at.getTime()) / 100) / 10;
      const lastRun = { at, outcome, seconds, message: oneLine(message, maxMessageLength) };
      return afterRun({ schedule, now: now(), due: nextDue() }, lastRun, repeatAfterMs);
    };
    try {
      const { message, repeatAfterMs } = await run();
      logger.info({ task: name, result: message }, 'housekeeping ran');
      return after('succeeded', message, repeatAfterMs);
    } catch (error) {
      logger.error({ err: error, task: name }, 'housekeeping failed; it is repeated');
      return after('failed', error instanceof Error ? error.message : String(error), repeatAfterFailureMs);
    }
  }
}
