import type { KnownEnvironment, OperatorMessage, Route } from '../waker-protocol/messages.ts';

export interface EnvironmentsOptions {
  /** How long an environment is remembered that requests no longer reach, in milliseconds. */
  lingerMs: number;
  now: () => number;
}

/** A pod to forward to. */
export interface Backend {
  address: string;
  port: number;
}

type Listener = () => void;

interface Entry {
  environment: KnownEnvironment;
  usedAt: number;
}

/** The environments whose requests reach the waker, as the operator reports them. */
export class Environments {
  readonly #options: EnvironmentsOptions;
  readonly #entries = new Map<string, Entry>();
  readonly #byHost = new Map<string, string>();
  /** By key of the environment, and '' for changes of any. */
  readonly #listeners = new Map<string, Set<Listener>>();
  #isSynced = false;

  constructor(options: EnvironmentsOptions) {
    this.#options = options;
  }

  /** Whether an operator has reported everything that it knows at least once. */
  get isSynced(): boolean {
    return this.#isSynced;
  }

  get size(): number {
    return this.#entries.size;
  }

  /** Returns the function that applies what an operator reports on one connection. */
  receiver(): (message: OperatorMessage) => void {
    const reported = new Set<string>();
    return (message) => {
      if (message.type === 'synced') {
        this.#isSynced = true;
        // They went while no operator was connected; their pods' addresses can belong to others by now.
        if (message.isComplete) for (const key of this.#entries.keys()) if (!reported.has(key)) this.#forget(key);
      } else if (message.type === 'gone') {
        reported.delete(message.key);
        this.#forget(message.key);
      } else {
        reported.add(message.environment.key);
        this.#learn(message.environment);
      }
      this.#notify('');
    };
  }

  /** Returns the environment that a host name belongs to. */
  ofHost(host: string): KnownEnvironment | undefined {
    const key = this.#byHost.get(host);
    const entry = key === undefined ? undefined : this.#entries.get(key);
    if (entry) entry.usedAt = this.#options.now();
    return entry?.environment;
  }

  get(key: string): KnownEnvironment | undefined {
    return this.#entries.get(key)?.environment;
  }

  /** Forgets environments whose requests no longer arrive here. */
  sweep(): void {
    const { lingerMs, now } = this.#options;
    for (const [key, { environment, usedAt }] of this.#entries) {
      if (environment.mode === 'left' && now() - usedAt > lingerMs) this.#forget(key);
    }
  }

  /** Calls the listener at each change of the environment, or of any if the key is empty, until the returned function is called. */
  listen(key: string, listener: Listener): () => void {
    const listeners = this.#listeners.get(key) ?? new Set();
    this.#listeners.set(key, listeners.add(listener));
    return () => {
      listeners.delete(listener);
      if (listeners.size === 0 && this.#listeners.get(key) === listeners) this.#listeners.delete(key);
    };
  }

  #learn(environment: KnownEnvironment): void {
    const { key } = environment;
    this.#dropHosts(key);
    this.#entries.set(key, { environment, usedAt: this.#options.now() });
    for (const host of Object.keys(environment.hosts)) this.#byHost.set(host, key);
    this.#notify(key);
  }

  #forget(key: string): void {
    this.#dropHosts(key);
    this.#entries.delete(key);
    this.#notify(key);
  }

  #dropHosts(key: string): void {
    for (const host of Object.keys(this.get(key)?.hosts ?? {})) {
      if (this.#byHost.get(host) === key) this.#byHost.delete(host);
    }
  }

  #notify(key: string): void {
    for (const listener of [...(this.#listeners.get(key) ?? [])]) listener();
  }
}

/** Returns the route of a path: the longest one that is a prefix of it in whole segments. */
export function routeOf(routes: readonly Route[], path: string): Route | undefined {
  const matching = routes.filter(({ path: prefix }) => {
    const base = prefix.endsWith('/') ? prefix.slice(0, -1) : prefix;
    return path === base || path.startsWith(`${base}/`);
  });
  return matching.sort((a, b) => b.path.length - a.path.length)[0];
}

/** Returns whether a visit makes the services run, unless they do. */
export function canWakeByVisit({ mode, wakeOn }: Pick<KnownEnvironment, 'mode' | 'wakeOn'>): boolean {
  return mode !== 'asleep' || wakeOn === 'visit';
}

/** Returns the ready pods that a request is to be forwarded to. */
export function backendsOf(environment: KnownEnvironment, host: string, path: string): Backend[] {
  const route = routeOf(environment.hosts[host] ?? [], path);
  if (!route) return [];
  return (environment.backends[route.service] ?? []).map((address) => ({ address, port: route.port }));
}
