/** Returns a timestamp of Kubernetes in Unix seconds, rounded down; 0 if there is none. */
export function unixSecondsOf(timestamp: string | undefined): number {
  return timestamp === undefined ? 0 : Math.floor(Date.parse(timestamp) / 1000);
}
