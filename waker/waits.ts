import type { Socket } from 'node:net';
import type { KnownEnvironment } from '../waker-protocol/messages.ts';
import { connectToBackend } from './backend-connection.ts';
import { backendsOf, type Environments } from './environments.ts';
import type { HeldRequests } from './held-requests.ts';

export interface WaitsOptions {
  environments: Environments;
  /** Requests that wait for services; they wake. */
  held: HeldRequests;
  /** How long a request waits for services, in milliseconds. */
  holdMs: number;
}

/** How long a request for an unknown host waits for an operator to report it, in milliseconds: this process has just started. */
const unknownHostMs = 10_000;
/** How many requests wait for that at once. */
const maxUnknownHosts = 100;

class TooLateError extends Error {}
class TooManyError extends Error {}

/** Waits for what an operator reports of environments, within bounds. */
export class Waits {
  readonly #options: WaitsOptions;
  /** Requests that wait for an operator; it is not known whose they are. */
  #unknownHosts = 0;

  constructor(options: WaitsOptions) {
    this.#options = options;
  }

  /** Returns undefined for a host that no known environment has. */
  async environmentOf(host: string): Promise<KnownEnvironment | undefined> {
    const { environments } = this.#options;
    const mayCome = () => !environments.isSynced && environments.ofHost(host) === undefined;
    if (mayCome() && this.#unknownHosts < maxUnknownHosts) {
      this.#unknownHosts++;
      const late = AbortSignal.timeout(unknownHostMs);
      while (mayCome() && !late.aborted) await this.changed('', unknownHostMs, late);
      this.#unknownHosts--;
    }
    return environments.ofHost(host);
  }

  /** Connects to a pod of the visited service, and waits until there is one: only waiting takes a slot. */
  async connect(
    { environment: { key }, host, path }: { environment: KnownEnvironment; host: string; path: string },
    closed: AbortSignal,
  ): Promise<Socket | 'full' | 'late'> {
    const { environments, held, holdMs } = this.#options;
    let release: (() => void) | undefined;
    const late = new AbortController();
    const timer = setTimeout(() => late.abort(new TooLateError()), holdMs);
    try {
      return await connectToBackend({
        find: () => {
          const current = environments.get(key);
          return current && current.mode !== 'asleep' ? backendsOf(current, host, path) : [];
        },
        changed: (ms, signal) => {
          release ??= held.take({ key });
          if (!release) throw new TooManyError();
          return this.changed(key, ms, signal);
        },
        signal: AbortSignal.any([closed, late.signal]),
      });
    } catch (error) {
      if (error instanceof TooLateError) return 'late';
      if (error instanceof TooManyError) return 'full';
      throw error;
    } finally {
      clearTimeout(timer);
      release?.();
    }
  }

  /** Resolves at a change of the environment, after the time, or when the signal is aborted. */
  changed(key: string, ms: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const end = () => {
        clearTimeout(timer);
        stop();
        signal.removeEventListener('abort', end);
        resolve();
      };
      const timer = setTimeout(end, ms);
      const stop = this.#options.environments.listen(key, end);
      signal.addEventListener('abort', end, { once: true });
      if (signal.aborted) end();
    });
  }
}
