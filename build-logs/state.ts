/** Fields of the state hash, set together with what is added to the stream. */
export type StateChange = readonly (readonly [field: string, value: string])[];

/**
 * The state of a log, as its hash in Redis stores it:
 * - `version`: increases with every change; a writer with another version must read the state again
 * - `seq`: of the last message; `stored`: size of all stored messages in bytes
 * - `lines:<source>`, `bytes:<source>`, `cut:<source>`: number of a source's processed lines, size of its stored lines,
 *   and whether further ones are omitted
 * - `at:<source>`: position of a running service's source (runtime-writer.ts)
 * - `once:<key>`: set by appendOnce; `end`: whether the end message is stored
 */
export class LogState {
  readonly #fields: Map<string, string>;

  constructor(fields: Readonly<Record<string, string>>) {
    this.#fields = new Map(Object.entries(fields));
  }

  get version(): number {
    return this.#number('version');
  }

  get seq(): number {
    return this.#number('seq');
  }

  get storedBytes(): number {
    return this.#number('stored');
  }

  get hasEnded(): boolean {
    return this.#fields.has('end');
  }

  lines(source: string): number {
    return this.#number(`lines:${source}`);
  }

  bytes(source: string): number {
    return this.#number(`bytes:${source}`);
  }

  isCut(source: string): boolean {
    return this.#fields.has(`cut:${source}`);
  }

  at(source: string): string | undefined {
    return this.#fields.get(`at:${source}`);
  }

  hasOnce(key: string): boolean {
    return this.#fields.has(`once:${key}`);
  }

  apply(change: StateChange): void {
    for (const [field, value] of change) this.#fields.set(field, value);
  }

  #number(field: string): number {
    return Number(this.#fields.get(field) ?? 0);
  }
}
