import { isDeepStrictEqual } from 'node:util';
import type { KnownEnvironment, OperatorMessage } from '../../../waker-protocol/messages.ts';

type Receiver = (message: OperatorMessage) => void;

/** What the wakers are to know: the environments whose requests reach them. */
export class WakerBoard {
  readonly #known = new Map<string, KnownEnvironment>();
  readonly #receivers = new Set<Receiver>();

  has(key: string): boolean {
    return this.#known.has(key);
  }

  /** Reports the environment to the wakers if it has changed. */
  publish(environment: KnownEnvironment): void {
    const { key } = environment;
    if (isDeepStrictEqual(this.#known.get(key), environment)) return;
    this.#known.set(key, environment);
    this.#send({ type: 'environment', environment });
  }

  /** Reports an environment for the last time: its requests no longer reach the wakers, or only for a moment. */
  release(environment: KnownEnvironment): void {
    this.publish({ ...environment, mode: 'left' });
    this.#known.delete(environment.key);
  }

  /** Reports that the environment has no services. */
  forget(key: string): void {
    if (this.#known.delete(key)) this.#send({ type: 'gone', key });
  }

  /** Sends everything known, and then every change, until the returned function is called. */
  subscribe(receive: Receiver): () => void {
    for (const environment of this.#known.values()) receive({ type: 'environment', environment });
    this.#receivers.add(receive);
    return () => void this.#receivers.delete(receive);
  }

  #send(message: OperatorMessage): void {
    for (const receive of this.#receivers) receive(message);
  }
}
