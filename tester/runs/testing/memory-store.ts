import type { Item } from '../../test-types/items.ts';
import type { NewRun, RunStatus, State } from '../run.ts';
import type { End, StoredRun } from '../run-store.ts';
import type { RunsOptions } from '../runs.ts';

interface Held extends NewRun {
  state: State;
  message?: string;
  result?: Item[];
}

/** A store in memory instead of Redis; with `isAway` every call fails. */
export class MemoryStore implements Readonly<Record<keyof RunsOptions['store'], unknown>> {
  readonly runs = new Map<string, Held>();
  isAway = false;

  async loadKept(): Promise<void> {
    await this.#answer();
  }

  async add(run: NewRun): Promise<void> {
    await this.#answer();
    this.runs.set(run.id, { ...run, state: 'queued' });
  }

  async start(id: string): Promise<StoredRun | undefined> {
    await this.#answer();
    const run = this.runs.get(id);
    if (run) run.state = 'running';
    return run;
  }

  async end(id: string, end: End): Promise<boolean> {
    await this.#answer();
    const run = this.runs.get(id);
    if (run?.state !== 'running') return false;
    Object.assign(run, 'result' in end ? { state: 'finished', ...end } : { state: 'failed', ...end });
    return true;
  }

  async secretHash(id: string): Promise<string | undefined> {
    await this.#answer();
    return this.runs.get(id)?.secretHash;
  }

  async status(id: string): Promise<RunStatus | undefined> {
    await this.#answer();
    const run = this.runs.get(id);
    return run && { state: run.state, ...(run.message !== undefined && { message: run.message }) };
  }

  async result(id: string): Promise<Item[] | undefined> {
    await this.#answer();
    return this.runs.get(id)?.result;
  }

  async running(): Promise<string[]> {
    await this.#answer();
    return [...this.runs.values()].filter(({ state }) => state === 'running').map(({ id }) => id);
  }

  async queued(): Promise<{ id: string; group: string; tenant: string }[]> {
    await this.#answer();
    return [...this.runs.values()]
      .filter(({ state }) => state === 'queued')
      .map(({ id, group, tenant }) => ({ id, group, tenant }));
  }

  stateOf(id: string): State | undefined {
    return this.runs.get(id)?.state;
  }

  async #answer(): Promise<void> {
    await Promise.resolve();
    if (this.isAway) throw new Error('Redis is disconnected');
  }
}
