import { Counter, type Registry } from 'prom-client';
import type { Outcome } from './token-endpoint.ts';

/** Registers the token server's metric. Returns a function that counts a request. */
export function tokenMetrics(registry: Registry): (outcome: Outcome) => void {
  const requests = new Counter({
    name: 'coppice_registry_token_requests_total',
    help: 'Requests for registry tokens by outcome: granted, unmounted, partly, unauthorized, limited or invalid',
    labelNames: ['outcome'],
    registers: [registry],
  });
  return (outcome) => requests.inc({ outcome });
}
