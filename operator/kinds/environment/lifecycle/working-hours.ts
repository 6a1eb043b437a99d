import { WEEKDAYS, type WorkingHours } from '../../../../crds/sleep.ts';
import { lastSlot, nextSlot, weekdayIn } from './daily-slots.ts';

/** Whether it is a working time, and when that changes next. */
export interface WorkingTime {
  isWorking: boolean;
  /** Undefined if it does not change within a week. */
  until: Date | undefined;
}

/** Returns whether `now` is within the working hours, as the clocks of their time zone show. */
export function workingTime(hours: WorkingHours, now: Date): WorkingTime {
  const current = periodFrom(hours, lastSlot({ hour: hours.from, timeZone: hours.timeZone }, now));
  if (current && now < current.end) return { isWorking: true, until: current.end };
  return { isWorking: false, until: nextStart(hours, now) };
}

interface Period {
  start: Date;
  end: Date;
}

/** Returns the working hours that start at this time; undefined if it is on a day off, or the clocks skip them. */
function periodFrom({ days, from, to, timeZone }: WorkingHours, start: Date): Period | undefined {
  if (!days.includes(weekdayIn(timeZone, start))) return undefined;
  const toTime = { hour: to, timeZone };
  // Clocks that are set forward past the working hours show their start and their end at once.
  const isSkipped = from !== to && lastSlot(toTime, start).getTime() === start.getTime();
  return isSkipped ? undefined : { start, end: nextSlot(toTime, start) };
}

function nextStart(hours: WorkingHours, now: Date): Date | undefined {
  let at = now;
  // One day more than a week: the clocks can skip the hours of one day.
  for (let ahead = 0; ahead <= WEEKDAYS.length; ahead++) {
    at = nextSlot({ hour: hours.from, timeZone: hours.timeZone }, at);
    if (periodFrom(hours, at)) return at;
  }
  return undefined;
}
