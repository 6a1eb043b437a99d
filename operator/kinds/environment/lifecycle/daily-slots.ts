import { WEEKDAYS, type Weekday } from '../../../../crds/sleep.ts';

/** A time of day in a time zone, such as 02:00 in Europe/Berlin. */
export interface DailyTime {
  /** hh:mm */
  hour: string;
  /** Name from the IANA time zone database. */
  timeZone: string;
}

const dayMs = 24 * 3600_000;

/**
 * Returns the last moment at or before `now` at which the clocks of the time zone showed that time. If clocks are set
 * back and show it twice, it is the first of the two; if they are set forward past it, it is later by the same amount.
 */
export function lastSlot(time: DailyTime, now: Date): Date {
  const zone = zoneClock(time.timeZone);
  // Two days back is enough: no day is longer than 25 hours, no zone was ever moved by more than a day.
  for (let back = 0; back <= 2; back++) {
    const slot = slotOfDay(time.hour, zone, new Date(now.getTime() - back * dayMs));
    if (slot <= now) return slot;
  }
  throw notFound(time, now);
}

function notFound({ hour, timeZone }: DailyTime, now: Date): Error {
  return new Error(
    `the clocks of ${timeZone} do not show ${hour} within two days of ${now.toISOString()}. Correct the hour and the ` +
      'time zone of the schedule',
  );
}

/** Returns the first slot after `now`. */
export function nextSlot(time: DailyTime, now: Date): Date {
  // Two slots are at least 22 hours apart: looking ahead by less, no slot is passed over.
  for (let ahead = 1; ahead <= 4; ahead++) {
    const slot = lastSlot(time, new Date(now.getTime() + (ahead * dayMs) / 2));
    if (slot > now) return slot;
  }
  throw notFound(time, now);
}

/** Returns the slot of the day that contains `moment` in the zone's calendar. */
function slotOfDay(hour: string, zone: ZoneClock, moment: Date): Date {
  const [hours = 0, minutes = 0] = hour.split(':').map(Number);
  const day = new Date(zone(moment));
  const shown = Date.UTC(day.getUTCFullYear(), day.getUTCMonth(), day.getUTCDate(), hours, minutes);
  const offsets = [shown - dayMs, shown + dayMs].map((around) => zone(new Date(around)) - around);
  const candidates = offsets.map((offset) => new Date(shown - offset)).sort((a, b) => a.getTime() - b.getTime());
  const [first, last] = candidates;
  if (!first || !last) throw new Error('there are two offsets');
  // In the gap neither offset matches: the one before the change gives a time after the change.
  return candidates.find((candidate) => zone(candidate) === shown) ?? last;
}

/** Returns the day of the week in a zone's calendar. */
export function weekdayIn(timeZone: string, moment: Date): Weekday {
  // Sunday is 0.
  const weekday = WEEKDAYS.at(new Date(zoneClock(timeZone)(moment)).getUTCDay() - 1);
  if (weekday === undefined) throw new Error('a week has seven days');
  return weekday;
}

/** Returns what the clocks of a zone show, as if it were UTC, in milliseconds; whole minutes. */
type ZoneClock = (moment: Date) => number;

const clocks = new Map<string, ZoneClock>();

/**
 * Cached: creating one takes a fifth of a millisecond, and there are a few hundred zones, whose names may be in capital or
 * small letters.
 */
function zoneClock(timeZone: string): ZoneClock {
  const zone = timeZone.toLowerCase();
  const clock = clocks.get(zone) ?? newZoneClock(zone);
  clocks.set(zone, clock);
  return clock;
}

function newZoneClock(timeZone: string): ZoneClock {
  const numeric = 'numeric';
  const format = new Intl.DateTimeFormat('en-u-ca-gregory-nu-latn', {
    ...{ timeZone, hourCycle: 'h23', year: numeric, month: numeric, day: numeric, hour: numeric, minute: numeric },
    second: numeric,
  });
  return (moment) => {
    const shown = Object.fromEntries(format.formatToParts(moment).map(({ type, value }) => [type, Number(value)]));
    const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = shown;
    return Date.UTC(year, month - 1, day, hour, minute, second);
  };
}
