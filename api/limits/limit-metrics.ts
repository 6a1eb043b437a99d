import { Counter, type Registry } from 'prom-client';

/** Limits of this folder, as values of the metric's label. */
export type LimitName =
  | 'memory'
  | 'checks'
  | 'writes'
  | 'written-bytes'
  | 'viewers'
  | 'streams'
  | 'sessions'
  | 'groups'
  | 'repositories'
  | 'environments'
  | 'texts';

/** Counts the requests that a limit refused. */
export interface LimitMetrics {
  refused(limit: LimitName): void;
}

/** Registers `coppice_api_limited_requests_total`. */
export function limitMetrics(registry: Registry): LimitMetrics {
  const requests = new Counter({
    name: 'coppice_api_limited_requests_total',
    help: 'Requests refused by a limit of an account or of this replica, except the limits per minute',
    labelNames: ['limit'],
    registers: [registry],
  });
  return { refused: (limit) => requests.inc({ limit }) };
}
