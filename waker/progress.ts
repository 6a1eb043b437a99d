import type { KnownEnvironment } from '../waker-protocol/messages.ts';
import { backendsOf } from './environments.ts';

export interface Progress {
  /** Whether the page can be loaded. */
  ready: boolean;
  services: { name: string; ready: boolean }[];
}

/** Returns what a waiting page shows: its page is loaded once all services run, because it may call them. */
export function progressOf(environment: KnownEnvironment | undefined, host: string): Progress {
  // Its requests no longer arrive here: the environment runs.
  if (!environment) return { ready: true, services: [] };
  const { services, mode } = environment;
  const hasBackend = backendsOf(environment, host, '/').length > 0;
  const isWholePath = Object.values(environment.hosts[host] ?? []).every(({ path }) => path !== '/');
  const runs = mode === 'awake' || mode === 'left' || (mode === 'waking' && services.every(({ ready }) => ready));
  return { ready: runs && (hasBackend || isWholePath), services };
}
