/** What accounts can make the API and the cluster spend; chart values `api.limits`. */
export interface Budgets {
  /** Bytes of request bodies, and of answers that were not read yet, at once in one replica. */
  requestMemoryBytes: number;
}
