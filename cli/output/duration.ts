import { usageError } from '../errors.ts';

const units: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400, w: 7 * 86_400 };

/** Returns the seconds of a duration such as `90`, `10m` or `1h30m`. @throws CliError */
export function seconds(text: string): number {
  if (/^\d+$/.test(text)) return Number(text);
  if (!/^(\d+[smhdw])+$/.test(text)) {
    throw usageError(`${text} is not a duration. Write seconds, or a number with s, m, h, d or w, such as 1h30m`);
  }
  return [...text.matchAll(/(\d+)([smhdw])/g)].reduce(
    (sum, [, count = '0', unit = 's']) => sum + Number(count) * (units[unit] ?? 1),
    0,
  );
}

/** Returns a duration in its two largest units: `1h30m`. */
export function durationText(total: number): string {
  const rounded = Math.max(0, Math.round(total));
  const parts = [
    [Math.floor(rounded / 86_400), 'd'],
    [Math.floor((rounded % 86_400) / 3600), 'h'],
    [Math.floor((rounded % 3600) / 60), 'm'],
    [rounded % 60, 's'],
  ] as const;
  const from = parts.findIndex(([count]) => count > 0);
  if (from === -1) return '0s';
  return parts
    .slice(from, from + 2)
    .filter(([count]) => count > 0)
    .map(([count, unit]) => `${count}${unit}`)
    .join('');
}

/** Returns a limit of time, of which 0 is none. */
export function limitText(total: number): string {
  return total === 0 ? 'never' : durationText(total);
}

/** Returns a time in Unix seconds as RFC 3339, in UTC. */
export function timeText(time: number): string {
  return `${new Date(time * 1000).toISOString().slice(0, 19)}Z`;
}

/** Returns how long ago a time in Unix seconds was; `-` for 0 or none. */
export function age(time: number | undefined, nowMs: number): string {
  return time === undefined || time === 0 ? '-' : durationText(nowMs / 1000 - time);
}
