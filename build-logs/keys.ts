export interface BuildLogKeys {
  /** The stream of messages; new ones are announced on a Pub/Sub channel of the same name. */
  stream: string;
  /** A hash: how far the log is, see state.ts. */
  state: string;
}

/**
 * The Redis keys of one build's log. `logId` is any text that names the build, such as
 * `<environment's UID>/<build number>`; the braces keep both keys in one slot of a Redis Cluster.
 */
export function buildLogKeys(logId: string): BuildLogKeys {
  return { stream: `build-log:{${logId}}`, state: `build-log:{${logId}}:state` };
}
