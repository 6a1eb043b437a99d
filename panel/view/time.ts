import { counted } from './counted.ts';

const units = [
  { name: 'year', seconds: 365 * 24 * 3600, smaller: 30 * 24 * 3600 },
  { name: 'month', seconds: 30 * 24 * 3600, smaller: 24 * 3600 },
  { name: 'day', seconds: 24 * 3600, smaller: 3600 },
  { name: 'hour', seconds: 3600, smaller: 60 },
  { name: 'minute', seconds: 60, smaller: 1 },
] as const;

/** Returns a distance in the largest unit of which its rounded count is at least 1: 59.7 min are 1 h. */
function roundedCount(distance: number): { count: number; name: (typeof units)[number]['name'] } | undefined {
  const unit = units.find(
    ({ seconds, smaller }) =>
      distance >= seconds || (smaller > 1 && Math.round(distance / smaller) * smaller >= seconds),
  );
  return unit && { count: Math.round(distance / unit.seconds), name: unit.name };
}

/** Returns a time relative to now, rounded: `3 minutes ago`, `in 2 days`. Both in Unix seconds. */
export function relativeTime(at: number, now: number): string {
  const distance = Math.abs(now - at);
  const rounded = roundedCount(distance);
  if (!rounded) return at > now ? 'in less than a minute' : distance < 10 ? 'just now' : 'less than a minute ago';
  const { count, name } = rounded;
  const words = counted(count, name);
  return at > now ? `in ${words}` : `${words} ago`;
}

/** Returns how long ago a time was, rounded: `5 minutes`. Both in Unix seconds. */
export function elapsedTime(at: number, now: number): string {
  const rounded = roundedCount(Math.max(0, now - at));
  return rounded ? counted(rounded.count, rounded.name) : 'less than a minute';
}

const short = { year: 'y', month: 'mo', day: 'd', hour: 'h', minute: 'min' } as const;

/** Returns an age or a remaining time for a narrow column, rounded: `3 min`, `2 d`. Both in Unix seconds. */
export function shortAge(at: number, now: number): string {
  const rounded = roundedCount(Math.abs(now - at));
  return rounded ? `${rounded.count} ${short[rounded.name]}` : 'now';
}

/**
 * Returns an age, or the time until `at`; both in Unix seconds. Treats times up to 10 s in the future as now, because
 * the coarse clock lags.
 */
export function ageText(at: number, clock: number, isShort: boolean): string {
  const current = at > clock && at - clock < 10 ? at : clock;
  return isShort ? shortAge(at, current) : relativeTime(at, current);
}

/** Returns a duration: `42 s`, `3 min 5 s`, `2 h 10 min`. */
export function duration(seconds: number): string {
  const whole = Math.max(0, Math.round(seconds));
  if (whole < 60) return `${whole} s`;
  if (whole < 3600) return withRest(Math.floor(whole / 60), 'min', whole % 60, 's');
  if (whole < 24 * 3600) return withRest(Math.floor(whole / 3600), 'h', Math.floor((whole % 3600) / 60), 'min');
  return withRest(Math.floor(whole / (24 * 3600)), 'd', Math.floor((whole % (24 * 3600)) / 3600), 'h');
}

function withRest(count: number, unit: string, rest: number, restUnit: string): string {
  return rest === 0 ? `${count} ${unit}` : `${count} ${unit} ${rest} ${restUnit}`;
}

/** Cached, because creating a DateTimeFormat is slower than rendering a row. */
const formats = new Map<string, Intl.DateTimeFormat>();

/** Returns the exact time in the reader's time zone, with the zone's name. */
export function exactTime(at: number, timeZone?: string): string {
  const key = timeZone ?? '';
  const format =
    formats.get(key) ??
    new Intl.DateTimeFormat('en-GB', {
      dateStyle: 'medium',
      timeStyle: 'long',
      ...(timeZone !== undefined && { timeZone }),
    });
  formats.set(key, format);
  return format.format(new Date(at * 1000));
}

/** Returns the seconds of `90s`, `30m`, `2h`, `7d` or `0`; undefined if the text is none of these. */
export function parseDuration(text: string): number | undefined {
  const match = /^\s*(\d{1,9})\s*(s|m|min|h|d|w)?\s*$/i.exec(text);
  if (!match) return undefined;
  const factors: Record<string, number> = { s: 1, m: 60, min: 60, h: 3600, d: 24 * 3600, w: 7 * 24 * 3600 };
  const unit = match[2]?.toLowerCase();
  const count = Number(match[1]);
  if (unit === undefined) return count === 0 ? 0 : undefined;
  return count * (factors[unit] ?? 0);
}

/** Returns seconds as `parseDuration` reads them, in the largest unit that divides them: `2h`. */
export function durationText(seconds: number): string {
  const units = [
    ['w', 7 * 24 * 3600],
    ['d', 24 * 3600],
    ['h', 3600],
    ['m', 60],
  ] as const;
  const unit = seconds === 0 ? undefined : units.find(([, size]) => seconds % size === 0);
  return unit ? `${seconds / unit[1]}${unit[0]}` : seconds === 0 ? '0' : `${seconds}s`;
}
