import { Counter, Gauge, type Registry } from 'prom-client';
import type { Environments } from './environments.ts';
import type { RequestSlots } from './request-slots.ts';
import type { Outcome } from './visit.ts';

/** Registers the waker's metrics. Returns the function that counts a request. */
export function wakerMetrics(
  registry: Registry,
  environments: Pick<Environments, 'size'>,
  held: Pick<RequestSlots, 'total'>,
): (outcome: Outcome) => void {
  const registers = [registry];
  new Gauge({
    name: 'coppice_waker_environments',
    help: 'Environments whose requests reach the waker',
    registers,
    collect() {
      this.set(environments.size);
    },
  });
  new Gauge({
    name: 'coppice_waker_held_requests',
    help: 'Requests that wait for services',
    registers,
    collect() {
      this.set(held.total);
    },
  });
  const requests = new Counter({
    name: 'coppice_waker_requests_total',
    help: 'Requests that reached the waker, by what became of them',
    labelNames: ['outcome'],
    registers,
  });
  return (outcome) => requests.inc({ outcome });
}
