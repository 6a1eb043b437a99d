import type { KnownEnvironment } from '../waker-protocol/messages.ts';
import { backendsOf } from './environments.ts';

export interface Progress {
  /** Whether the page can be loaded. */
  ready: boolean;
  /** Services that visitors can reach. */
  services: { name: string; ready: boolean }[];
  /** How many others there are: strangers see no names of them. */
  others: { count: number; ready: number };
}

/** Returns what a waiting page shows: its page is loaded once all services run, because it may call them. */
export function progressOf(environment: KnownEnvironment | undefined, host: string): Progress {
  // Its requests no longer arrive here: the environment runs.
  if (!environment) return { ready: true, services: [], others: { count: 0, ready: 0 } };
  const { services, mode } = environment;
  const hasBackend = backendsOf(environment, host, '/').length > 0;
  const isWholePath = Object.values(environment.hosts[host] ?? []).every(({ path }) => path !== '/');
  const runs = mode === 'awake' || mode === 'left' || (mode === 'waking' && services.every(({ ready }) => ready));
  const publicNames = new Set(
    Object.values(environment.hosts).flatMap((routes) => routes.map(({ service }) => service)),
  );
  const others = services.filter(({ name }) => !publicNames.has(name));
  return {
    ready: runs && (hasBackend || isWholePath),
    services: services.filter(({ name }) => publicNames.has(name)),
    others: { count: others.length, ready: others.filter(({ ready }) => ready).length },
  };
}
