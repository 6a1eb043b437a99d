export interface LogKeys {
  /** Stream of messages; new ones are announced on a Pub/Sub channel of the same name. */
  stream: string;
  /** Hash with the state of the log (state.ts). */
  state: string;
}

/**
 * Returns the Redis keys of one build's log. `logId` is a text that identifies the build, such as `<environment's
 * UID>/<build number>`; the braces keep both keys in one slot of a Redis Cluster.
 */
export function buildLogKeys(logId: string): LogKeys {
  return { stream: `build-log:{${logId}}`, state: `build-log:{${logId}}:state` };
}

/**
 * Returns the Redis keys of one service's log. `uid` is the Environment's; `loaded` is set when the pods' earlier lines
 * are stored, `refused` when too many services are being followed (follow-request.ts).
 */
export function runtimeLogKeys(
  uid: string,
  service: string,
): LogKeys & { loaded: string; followRequest: string; refused: string } {
  const stream = `runtime-log:{${uid}/${service}}`;
  return {
    stream,
    state: `${stream}:state`,
    loaded: `${stream}:loaded`,
    followRequest: `${stream}:follow-request`,
    refused: `${stream}:refused`,
  };
}
