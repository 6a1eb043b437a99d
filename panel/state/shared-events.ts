import type { StreamEvent } from '../view/event-parser.ts';
import { EventConnection, type ConnectionHandlers } from './event-connection.ts';

/** A heartbeat reaches the other tabs every 15 s as well. */
const deadMs = 40_000;
const checkMs = 2000;

type Message =
  | { kind: 'events'; events: readonly StreamEvent[]; lastEventId: string }
  | { kind: 'lost'; lastHeard: number }
  /** Another tab asks whether the connection exists. */
  | { kind: 'hello' }
  | { kind: 'live'; lastEventId: string };

/**
 * Follows the stream of changes with one connection for all tabs of the browser, because a browser opens only six to a host
 * over plain HTTP. The tab that holds a lock has the connection; when that tab closes, another one gets the lock and continues.
 * @param account separates the tabs of different users
 * @returns a function that reconnects
 */
export function followEvents(account: string, handlers: ConnectionHandlers): () => void {
  // Browsers have locks only over https and on localhost.
  if (!('locks' in navigator)) {
    const connection = new EventConnection(handlers, '');
    connection.start();
    return () => connection.reopen();
  }
  const name = `coppice-events ${account}`;
  const channel = new BroadcastChannel(name);
  const post = (message: Message) => channel.postMessage(message);
  let connection: EventConnection | undefined;
  let isLive = false;
  let lastEventId = '';
  let lastHeard = Date.now();

  const follow = (events: readonly StreamEvent[], position: string) => {
    lastHeard = Date.now();
    lastEventId = position;
    if (events.some(({ type }) => type === 'reset' || type === 'ready')) isLive = true;
    handlers.onEvents(events, position);
  };
  const lose = (at: number) => {
    isLive = false;
    handlers.onLost(at);
  };
  channel.addEventListener('message', ({ data }: MessageEvent<Message>) => {
    if (data.kind === 'hello') {
      if (connection && isLive) post({ kind: 'live', lastEventId });
    } else if (connection) {
      return;
    } else if (data.kind === 'lost') lose(data.lastHeard);
    else if (data.kind === 'events') {
      // A tab may have missed changes before it learned of the connection, so it reads everything again.
      if (isLive) follow(data.events, data.lastEventId);
      else follow([{ type: 'reset', data: '{}' }, ...data.events], data.lastEventId);
    } else if (!isLive) follow([{ type: 'reset', data: '{}' }], data.lastEventId);
  });
  setInterval(() => {
    if (connection || Date.now() - lastHeard < deadMs) return;
    if (isLive) lose(lastHeard);
    post({ kind: 'hello' });
  }, checkMs);
  post({ kind: 'hello' });

  void navigator.locks.request(name, () => {
    connection = new EventConnection(
      {
        onEvents: (events, position) => {
          post({ kind: 'events', events, lastEventId: position });
          follow(events, position);
        },
        onLost: (at) => {
          post({ kind: 'lost', lastHeard: at });
          lose(at);
        },
        onRefused: handlers.onRefused,
      },
      lastEventId,
    );
    connection.start();
    // The lock is held until the tab is closed.
    return new Promise(() => undefined);
  });
  return () => connection?.reopen();
}
