import type { AccountLimits } from './account-caps.ts';
import type { WrittenBytes } from './write-budget.ts';

/** What accounts can make the API and the cluster spend; chart values `api.limits`. */
export interface Budgets {
  /** Bytes of request bodies, and of answers that were not read yet, at once in one replica. */
  requestMemoryBytes: number;
  /** Bytes that the requests of one account may write to the cluster. */
  written: WrittenBytes;
  /** What one account can have. */
  account: AccountLimits;
}
