/** Seconds of each unit that Compose accepts. */
const units = new Map([
  ['ns', 1e-9],
  ['us', 1e-6],
  ['µs', 1e-6],
  ['μs', 1e-6],
  ['ms', 1e-3],
  ['s', 1],
  ['m', 60],
  ['h', 3600],
  ['d', 86_400],
  ['w', 604_800],
]);

const partPattern = /(\d+\.?\d*|\.\d+)(ns|us|µs|μs|ms|s|m|h|d|w)/y;

/**
 * Parses a Compose duration (`1m30s`, `500ms`, `1.5h`, `0`) to seconds; returns undefined for other texts, including
 * negative ones.
 */
export function parseDuration(text: string): number | undefined {
  const digits = text.startsWith('+') ? text.slice(1) : text;
  if (digits === '0') return 0;
  if (digits === '' || digits.length > 60) return undefined;
  let seconds = 0;
  partPattern.lastIndex = 0;
  while (partPattern.lastIndex < digits.length) {
    const part = partPattern.exec(digits);
    if (part === null) return undefined;
    seconds += Number(part[1]) * (units.get(part[2] ?? '') ?? Number.NaN);
  }
  // Rounds to nanoseconds, as Compose does, so that three times 0.1 s is exactly 300 ms.
  return Math.round(seconds * 1e9) / 1e9;
}
