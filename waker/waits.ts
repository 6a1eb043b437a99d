import type { Socket } from 'node:net';
import type { KnownEnvironment } from '../waker-protocol/messages.ts';
import { connectToBackend } from './backend-connection.ts';
import { backendsOf, type Environments } from './environments.ts';
import type { RequestSlots } from './request-slots.ts';
import type { Visit } from './visit.ts';

export interface WaitsOptions {
  environments: Environments;
  /** Requests that wait for services; they wake. */
  held: RequestSlots;
}

/** Maximum wait for an operator to report an unknown host after a start, in milliseconds. */
const unknownHostMs = 10_000;
/** Maximum number of requests that wait for an unknown host. */
const maxUnknownHosts = 100;

class TooLateError extends Error {}
class TooManyError extends Error {}

/** Waits for what an operator reports of environments, within bounds. */
export class Waits {
  readonly #options: WaitsOptions;
  /** Requests that wait for an operator. Their group is unknown, so only their total is limited. */
  #unknownHosts = 0;

  constructor(options: WaitsOptions) {
    this.#options = options;
  }

  /** Returns undefined for a host that no known environment has, and if the client disconnects. */
  async environmentOf(host: string, closed: AbortSignal): Promise<KnownEnvironment | undefined> {
    const { environments } = this.#options;
    const mayCome = () => !environments.isSynced && environments.ofHost(host) === undefined;
    if (mayCome() && this.#unknownHosts < maxUnknownHosts) {
      this.#unknownHosts++;
      const ended = AbortSignal.any([closed, AbortSignal.timeout(unknownHostMs)]);
      try {
        while (mayCome() && !ended.aborted) await this.nextChange('', unknownHostMs, ended);
      } finally {
        this.#unknownHosts--;
      }
    }
    return environments.ofHost(host);
  }

  /**
   * Connects to a ready pod of the visited service; takes a slot only while it waits for one.
   * @param until in milliseconds since 1970
   */
  async connect(
    { environment, host, path }: Visit,
    until: number,
    closed: AbortSignal,
  ): Promise<Socket | 'full' | 'late'> {
    const { environments, held } = this.#options;
    const { key } = environment;
    let release: (() => void) | undefined;
    const late = new AbortController();
    const timer = setTimeout(() => late.abort(new TooLateError()), Math.max(0, until - Date.now()));
    try {
      return await connectToBackend({
        find: () => {
          const current = environments.get(key);
          return current && current.mode !== 'asleep' ? backendsOf(current, host, path) : [];
        },
        changed: (ms, signal) => {
          release ??= held.take(environment);
          if (!release) throw new TooManyError();
          return this.nextChange(key, ms, signal);
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
  nextChange(key: string, ms: number, signal: AbortSignal): Promise<void> {
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
