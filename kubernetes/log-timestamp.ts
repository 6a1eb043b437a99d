/**
 * Splits the kubelet's timestamp from a line, `2026-01-01T00:00:00.000000000Z text`. A line without one is not a line
 * of the container, such as "failed to create fsnotify watcher" or the rest of a line after its first MiB, and may be
 * absent when the log is read again. It must not be counted, because another line would be lost then.
 */
export function splitTimestamp(text: string): { time: string; line: string } | undefined {
  const [, time, line] = /^(\d{4}-\d\d-\d\dT\S+) ?(.*)$/s.exec(text) ?? [];
  return time === undefined ? undefined : { time, line: line ?? '' };
}

/** Splits the first characters of a line. A longer line is copied, because its slice would keep all of it in memory. */
export function splitStart(text: string, characters: number): { time: string; line: string } | undefined {
  return splitTimestamp(text.length <= characters ? text : Buffer.from(text.slice(0, characters)).toString());
}
