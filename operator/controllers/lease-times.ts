/**
 * Times of the operators' Lease. When the leader dies, another one leads within 20 s: in the worst case it has seen the
 * last renewal 2.2 × retryPeriod late, waits leaseDuration, and tries 2.2 × retryPeriod after that.
 */
export const LEASE_TIMES = { leaseDurationMs: 12_000, renewDeadlineMs: 8000, retryPeriodMs: 1500 };
