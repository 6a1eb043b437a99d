/**
 * The kubelet puts the time before each line, `2026-01-01T00:00:00.000000000Z text`. What has none is not a line of the
 * container, and another reading may not have it: the kubelet's own words, such as "failed to create fsnotify watcher",
 * or what follows the first MiB of a line. Counted, it would cost another line when the log is read again.
 */
export function splitTimestamp(text: string): { time: string; line: string } | undefined {
  const [, time, line] = /^(\d{4}-\d\d-\d\dT\S+) ?(.*)$/s.exec(text) ?? [];
  return time === undefined ? undefined : { time, line: line ?? '' };
}
