import { connect, type Socket } from 'node:net';
import type { Backend } from './environments.ts';

/** How long a connection to a pod may take. */
const connectMs = 2000;
/** A pod that is ready can refuse connections for a moment: its process restarts, or its readiness is only a started container. */
const retryMs = { first: 50, max: 1000 };

export interface BackendSearch {
  /** The pods that are ready now. */
  find: () => readonly Backend[];
  /** Resolves when that may have changed, or after the time in milliseconds. */
  changed: (ms: number, signal: AbortSignal) => Promise<void>;
  /** Ends the search. */
  signal: AbortSignal;
}

/**
 * Connects to a pod that is ready, and waits for one as long as there is none.
 * @throws the reason of the signal, once it ends the search
 */
export async function connectToBackend({ find, changed, signal }: BackendSearch): Promise<Socket> {
  let refusals = 0;
  for (let attempt = Math.floor(Math.random() * 1024); ; attempt++) {
    signal.throwIfAborted();
    const backends = find();
    const backend = backends[attempt % Math.max(backends.length, 1)];
    if (!backend) {
      await changed(retryMs.max, signal);
      continue;
    }
    const socket = await connected(backend, signal);
    if (socket) return socket;
    refusals++;
    await changed(Math.min(retryMs.first * 2 ** refusals, retryMs.max), signal);
  }
}

/** Returns undefined if the pod does not accept the connection. */
function connected({ address, port }: Backend, signal: AbortSignal): Promise<Socket | undefined> {
  return new Promise((resolve) => {
    const socket = connect({ host: address, port, noDelay: true });
    const end = (result: Socket | undefined) => {
      clearTimeout(timer);
      signal.removeEventListener('abort', fail);
      socket.removeListener('error', fail);
      if (!result) socket.destroy();
      resolve(result);
    };
    const fail = () => end(undefined);
    const timer = setTimeout(fail, connectMs);
    signal.addEventListener('abort', fail, { once: true });
    socket.once('error', fail).once('connect', () => end(socket));
    // A destroyed socket can still report an error.
    socket.on('error', () => undefined);
  });
}
