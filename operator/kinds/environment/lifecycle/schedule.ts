import { createHash } from 'node:crypto';
import type { EnvironmentStatus } from '../../../../crds/environment.ts';
import type { Repository } from '../../../../crds/repository.ts';
import { isTimeZone } from '../../../../crds/time-zone.ts';
import { lastSlot, nextSlot, type DailyTime } from './daily-slots.ts';

type Settings = Repository['spec']['scheduledRebuild'];
type Seen = EnvironmentStatus['schedule'];

/** When an environment is rebuilt by its repository's schedule. */
export interface Schedule {
  /** The schedule as recorded in the status: it counts from when it was set. */
  setting: string;
  /** The last scheduled time at or before now. */
  last: Date;
  next: Date;
  /**
   * When a due rebuild starts: now or, if its time was missed, spread so that missed rebuilds do not start all at once.
   */
  starts: Date;
}

/** Rebuilds scheduled for the same time start within this many minutes, each always at the same offset. */
const spreadMinutes = 30;
const minuteMs = 60_000;
const spreadMs = spreadMinutes * minuteMs;
/** Maximum delay after which a rebuild still counts as on time. */
const toleranceMs = 2 * minuteMs;

/** Returns undefined if nothing is scheduled. */
export function scheduleOf(settings: Settings, uid: string, now: Date): Schedule | undefined {
  // An unknown time zone is reported in the Repository's own conditions.
  if (settings?.hour === undefined || settings.mode === 'disabled') return undefined;
  if (!isTimeZone(settings.timeZone)) return undefined;
  const time: DailyTime = { hour: settings.hour, timeZone: settings.timeZone };
  const lateMs = minuteOf(uid) * minuteMs;
  const later = (slot: Date) => new Date(slot.getTime() + lateMs);
  const earlier = new Date(now.getTime() - lateMs);
  const slot = lastSlot(time, earlier);
  const isMissed = now.getTime() - slot.getTime() > 2 * spreadMs;
  return {
    setting: `${settings.mode} ${time.hour} ${time.timeZone}`,
    last: later(slot),
    next: later(nextSlot(time, earlier)),
    starts: isMissed ? inItsMinute(lateMs, now) : now,
  };
}

/** Returns what the status records of the schedule: the setting, and since when. */
export function seenSchedule(schedule: Schedule | undefined, before: Seen, now: Date): Seen {
  if (schedule === undefined) return undefined;
  return before?.setting === schedule.setting ? before : { setting: schedule.setting, since: now.toISOString() };
}

/**
 * Returns whether the contents, created at `since`, are older than the schedule's last time: a missed rebuild is made
 * up for once, whenever it is noticed.
 */
export function isDue(schedule: Schedule | undefined, seen: Seen, since: string): boolean {
  if (!schedule || !seen) return false;
  return schedule.last.getTime() > Math.max(Date.parse(seen.since), Date.parse(since));
}

/** Returns now if it is the minute of the half hour in which this environment starts, otherwise that minute. */
function inItsMinute(lateMs: number, now: Date): Date {
  const sinceMs = (now.getTime() - lateMs) % spreadMs;
  return sinceMs < toleranceMs ? now : new Date(now.getTime() + spreadMs - sinceMs);
}

function minuteOf(uid: string): number {
  return createHash('sha256').update(uid).digest().readUInt32BE() % spreadMinutes;
}
