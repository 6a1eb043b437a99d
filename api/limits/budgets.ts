import type { AccountLimits } from './account-caps.ts';
import type { WrittenBytes } from './write-budget.ts';

/** Limits on what accounts can use of the API and the cluster; chart values `api.limits`. */
export interface Budgets {
  /** Bytes of request bodies and unread responses that one replica holds at once. */
  requestMemoryBytes: number;
  /** Bytes that the requests of one account can write to the cluster. */
  written: WrittenBytes;
  /** Limits on what one account can store. */
  account: AccountLimits;
}
