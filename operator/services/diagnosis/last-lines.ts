/** The kubelet stores this many bytes of a container's log in its status; the first line may be truncated. */
const keptBytes = 2048;

/** Matches how runtimes and databases print an error: `TypeError: …`, `FATAL:  …`, `[error] …`, `panic: …`. */
const errorReport = /(?:^|[\s["'])(?:[\w.$]*(?:Error|Exception)(?: \[\w+\])?: |(?:panic|fatal|error|emerg)(?:: |\] ))/i;

/** Returns the last line that reports an error, without its indentation; undefined if none does. */
export function errorLine(lines: string): string | undefined {
  return lines
    .split('\n')
    .findLast((line) => errorReport.test(line))
    ?.trim();
}

/**
 * Returns the last lines of a log that the kubelet stored. Omits a truncated line, in which a partial secret could not
 * be masked.
 */
export function lastLines(text: string, count: number): string {
  const whole = Buffer.byteLength(text) < keptBytes ? text : text.slice(text.search(/\s|$/) + 1);
  return whole.trimEnd().split('\n').slice(-count).join('\n');
}
