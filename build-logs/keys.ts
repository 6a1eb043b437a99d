export interface LogKeys {
  /** The stream of messages; new ones are announced on a Pub/Sub channel of the same name. */
  stream: string;
  /** A hash: how far the log is, see state.ts. */
  state: string;
}

/**
 * The Redis keys of one build's log. `logId` is any text that names the build, such as
 * `<environment's UID>/<build number>`; the braces keep both keys in one slot of a Redis Cluster.
 */
export function buildLogKeys(logId: string): LogKeys {
  return { stream: `build-log:{${logId}}`, state: `build-log:{${logId}}:state` };
}

/**
 * The Redis keys of one service's log while somebody reads it. `uid` is the Environment's; `loaded` says that what the
 * pods had written before is there; `wish` that somebody wants to read, `refused` that too many services are read already
 * (runtime-wish.ts).
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
