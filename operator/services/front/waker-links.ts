import { connect, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { Informer } from '../../../kubernetes/informer.ts';
import { keyOf, type Pod } from '../../../kubernetes/resource-type.ts';
import { shakeHands } from '../../../waker-protocol/handshake.ts';
import { jsonLines, sendLine } from '../../../waker-protocol/lines.ts';
import { CONTROL_PORT, wakerMessageSchema } from '../../../waker-protocol/messages.ts';
import type { WakerBoard } from './waker-board.ts';

export interface WakerLinksOptions {
  pods: Pick<Informer<Pod>, 'addHandler' | 'get' | 'list'>;
  board: Pick<WakerBoard, 'subscribe'>;
  /** Key that the wakers share. */
  key: string;
  /** Called with the key of an Environment that somebody visits. */
  onVisit: (key: string) => void;
  /** Whether the board has all sleeping environments. */
  isComplete: () => boolean;
  port?: number;
  logger: Pick<Logger, 'info' | 'warn'>;
}

const retryMs = { first: 500, max: 10_000 };
const keepAliveMs = 10_000;
/** A waker takes part when the board is complete, or after this time: an environment can fail to be reconciled. */
const completeMs = 60_000;
const completeCheckMs = 200;

/** Keeps a connection to each pod of the waker: reports environments to it, and receives visits. */
export class WakerLinks {
  readonly #options: WakerLinksOptions;
  readonly #links = new Map<string, AbortController>();
  #isStopped = false;

  constructor(options: WakerLinksOptions) {
    this.#options = options;
  }

  /** Starts to connect; only the leading operator does. */
  start(): void {
    const { pods } = this.#options;
    for (const pod of pods.list()) this.#follow(pod);
    pods.addHandler((type, pod) => {
      if (type !== 'deleted') this.#follow(pod);
    });
  }

  stop(): void {
    this.#isStopped = true;
    for (const link of this.#links.values()) link.abort();
  }

  #follow(pod: Pod): void {
    const id = pod.metadata.uid ?? keyOf(pod);
    const address = pod.status?.podIP;
    if (this.#isStopped || this.#links.has(id) || address === undefined) return;
    const link = new AbortController();
    this.#links.set(id, link);
    void this.#keep(keyOf(pod), pod.metadata.uid, address, link.signal).finally(() => this.#links.delete(id));
  }

  /** Connects again and again as long as the pod exists with this address. */
  async #keep(podKey: string, uid: string | undefined, address: string, signal: AbortSignal): Promise<void> {
    const { pods, logger } = this.#options;
    const exists = () => {
      const pod = pods.get(podKey);
      return pod?.metadata.uid === uid && pod?.status?.podIP === address && !isOver(pod);
    };
    for (let failures = 0; exists() && !this.#isStopped; failures++) {
      try {
        await this.#talk(address, signal, () => (failures = 0));
      } catch (error) {
        logger.warn({ err: error, pod: podKey }, 'the connection to a waker has ended');
      }
      await delay(Math.min(retryMs.first * 2 ** failures, retryMs.max), undefined, { signal }).catch(() => undefined);
    }
  }

  async #talk(address: string, signal: AbortSignal, onConnected: () => void): Promise<void> {
    const { board, key, onVisit, port = CONTROL_PORT, logger } = this.#options;
    const socket = connect({ host: address, port, noDelay: true, keepAlive: true, keepAliveInitialDelay: keepAliveMs });
    const end = () => socket.destroy();
    signal.addEventListener('abort', end, { once: true });
    let unsubscribe: (() => void) | undefined;
    const synced = new AbortController();
    try {
      // An error ends the lines, which report it.
      socket.on('error', end);
      const lines = jsonLines(socket);
      await shakeHands('operator', socket, lines, key);
      onConnected();
      logger.info({ waker: address }, 'connected to a waker');
      unsubscribe = board.subscribe((message) => sendLine(socket, message));
      void this.#sendSynced(socket, synced.signal);
      for await (const line of lines) onVisit(wakerMessageSchema.parse(line).key);
    } finally {
      synced.abort();
      unsubscribe?.();
      signal.removeEventListener('abort', end);
      end();
    }
  }

  async #sendSynced(socket: Socket, signal: AbortSignal): Promise<void> {
    const until = Date.now() + completeMs;
    while (!this.#options.isComplete() && Date.now() < until && !signal.aborted) {
      await delay(completeCheckMs, undefined, { signal }).catch(() => undefined);
    }
    if (!signal.aborted) sendLine(socket, { type: 'synced', isComplete: this.#options.isComplete() });
  }
}

function isOver({ status }: Pod): boolean {
  return status?.phase === 'Succeeded' || status?.phase === 'Failed';
}
