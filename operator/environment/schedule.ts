import { createHash } from 'node:crypto';
import type { EnvironmentStatus } from '../../crds/environment.ts';
import type { Repository } from '../../crds/repository.ts';
import { isTimeZone } from '../../crds/time-zone.ts';
import { lastSlot, nextSlot, type DailyTime } from './daily-slots.ts';

type Settings = Repository['spec']['scheduledRebuild'];
type Seen = EnvironmentStatus['schedule'];

/** When one environment is rebuilt by its repository's schedule. */
export interface Schedule {
  /** As it is told in the status: a schedule counts from when it was set. */
  setting: string;
  /** The last time, at or before now. */
  last: Date;
  next: Date;
  /** When a rebuild that is due begins: now, or, where its time was missed, when it does no stampede of all those missed. */
  begins: Date;
}

/** A thousand environments at 02:00 begin within so many minutes, each always at the same one. */
const SPREAD_MINUTES = 30;
const minuteMs = 60_000;
const spreadMs = SPREAD_MINUTES * minuteMs;
/** What is noticed a little late begins all the same. */
const toleranceMs = 2 * minuteMs;

/** Undefined where nothing is rebuilt by schedule. */
export function scheduleOf(settings: Settings, uid: string, now: Date): Schedule | undefined {
  // A time zone that there is not, the Repository's own conditions tell.
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
    begins: isMissed ? inItsMinute(lateMs, now) : now,
  };
}

/** What is to be remembered of the schedule: what it says, and since when. */
export function seenSchedule(schedule: Schedule | undefined, before: Seen, now: Date): Seen {
  if (schedule === undefined) return undefined;
  return before?.setting === schedule.setting ? before : { setting: schedule.setting, since: now.toISOString() };
}

/**
 * Whether the contents, there since `since`, are older than the schedule's last time: a run that was missed is made up
 * once, whenever that is noticed.
 */
export function isDue(schedule: Schedule | undefined, seen: Seen, since: string): boolean {
  if (!schedule || !seen) return false;
  return schedule.last.getTime() > Math.max(Date.parse(seen.since), Date.parse(since));
}

/** Now, when it is the environment's own minute of a half hour; otherwise when that comes. */
function inItsMinute(lateMs: number, now: Date): Date {
  const sinceMs = (now.getTime() - lateMs) % spreadMs;
  return sinceMs < toleranceMs ? now : new Date(now.getTime() + spreadMs - sinceMs);
}

function minuteOf(uid: string): number {
  return createHash('sha256').update(uid).digest().readUInt32BE() % SPREAD_MINUTES;
}
