/**
 * Of a container's log the kubelet keeps so many bytes in its status: the line that they start in may be half a one.
 */
const KEPT_BYTES = 2048;

/** The last lines of what the kubelet has kept of a container's log. Half a line is left out: nobody could mask half a secret. */
export function lastLines(text: string, count: number): string {
  const whole = Buffer.byteLength(text) < KEPT_BYTES ? text : text.slice(text.search(/\s|$/) + 1);
  return whole.trimEnd().split('\n').slice(-count).join('\n');
}
