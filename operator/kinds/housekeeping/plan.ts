import type { HousekeepingRecord, LastRun, Schedule } from './record.ts';

export interface PlanInput {
  schedule: Schedule;
  /** What is stored; undefined before the first plan. */
  record: HousekeepingRecord | undefined;
  now: Date;
  /** The first time after `now` at which the schedule is due. */
  due: Date;
  /** No run starts before this time. */
  notBefore?: Date | undefined;
}

/**
 * What happens to a task: it runs, its next run is stored, or it waits. `afterMs` is when to plan again although the
 * schedule is not due; absent if nothing else is awaited.
 */
export type RunPlan = { run: true } | { store: HousekeepingRecord } | { afterMs: number | undefined };

/**
 * Plans one task. A run is due at the time that was stored, so one whose time passed while no operator led is made up:
 * once, however many times passed.
 */
export function planRun({ schedule, record, now, due, notBefore = now }: PlanInput): RunPlan {
  if (!record) return { store: recordOf(schedule, due) };
  if (record.nextRun <= now) return notBefore <= now ? { run: true } : { afterMs: msBetween(now, notBefore) };
  if (!isScheduledAs(record, schedule)) return { store: recordOf(schedule, due, record.lastRun) };
  return { afterMs: record.nextRun < due ? msBetween(now, record.nextRun) : undefined };
}

/**
 * Returns what is stored after a run: the next one is that of the schedule, or an earlier repetition.
 * @param repeatAfterMs undefined if the run is not repeated
 */
export function afterRun(
  { schedule, now, due }: Omit<PlanInput, 'record'>,
  lastRun: LastRun,
  repeatAfterMs = Infinity,
): HousekeepingRecord {
  const isRepeated = repeatAfterMs < msBetween(now, due);
  return recordOf(schedule, isRepeated ? new Date(now.getTime() + repeatAfterMs) : due, lastRun);
}

function recordOf({ expression, timeZone }: Schedule, nextRun: Date, lastRun?: LastRun): HousekeepingRecord {
  return { schedule: expression, timeZone, nextRun, ...(lastRun && { lastRun }) };
}

function isScheduledAs(record: HousekeepingRecord, { expression, timeZone }: Schedule): boolean {
  return record.schedule === expression && record.timeZone === timeZone;
}

function msBetween(from: Date, to: Date): number {
  return to.getTime() - from.getTime();
}
