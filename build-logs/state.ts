/** Fields of the state hash, to be set together with what is added to the stream. */
export type StateChange = readonly (readonly [field: string, value: string])[];

/**
 * How far a log is, as its hash in Redis says:
 * - `version`: grows with every change; a writer whose version is not Redis's has to read the state again
 * - `seq`: of the last message; `stored`: bytes of all messages as they are stored
 * - `lines:<source>`, `bytes:<source>`, `cut:<source>`: how many lines of a source are dealt with, how many bytes of
 *   them are kept, and whether the rest is left out
 * - `at:<source>`: of a running service's source, how far it is (runtime-writer.ts)
 * - `once:<key>`: what appendOnce has written; `end`: whether the end message is there
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
