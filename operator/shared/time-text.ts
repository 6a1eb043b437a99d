/** Returns a time as Kubernetes writes it: RFC 3339, in UTC, to the second. */
export function timeText(time: Date): string {
  return time.toISOString().replace(/\.\d+Z$/, 'Z');
}
