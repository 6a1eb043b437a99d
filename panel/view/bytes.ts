const units = ['B', 'kB', 'MB', 'GB', 'TB'] as const;

/** Returns a size with three digits at most: `0 B`, `1.2 GB`, `340 MB`. */
export function byteText(bytes: number): string {
  let value = bytes;
  let unit = 0;
  while (value >= 999.5 && unit < units.length - 1) {
    value /= 1000;
    unit += 1;
  }
  const digits = unit === 0 || value >= 99.95 ? 0 : 1;
  const text = value.toFixed(digits).replace(/\.0$/, '');
  return `${text} ${units[unit] ?? 'TB'}`;
}
