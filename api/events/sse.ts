import type { Change } from './change.ts';
import { formatPosition, type Position } from './position.ts';
import type { CloseReason, ResetReason } from './stream-event.ts';

/**
 * Server-sent events (WHATWG HTML, 9.2), as bytes that all clients share. JSON has no line breaks, so no text in it can
 * end a field.
 */
function event(name: string, data: object): Buffer {
  return Buffer.from(`event: ${name}\ndata: ${JSON.stringify(data)}\n\n`);
}

export function changeEvent(change: Change): Buffer {
  return event('change', change);
}

export function resetEvent(reason: ResetReason): Buffer {
  return event('reset', { reason });
}

export function readyEvent(): Buffer {
  return event('ready', {});
}

export function closeEvent(reason: CloseReason): Buffer {
  return event('close', { reason });
}

/** A block of its own, so that a client that is disconnected within a batch gets the whole batch again. */
export function idBlock(position: Position): Buffer {
  return Buffer.from(`id: ${formatPosition(position)}\n\n`);
}

/** Sets after how many milliseconds the client connects again. */
export function retryBlock(ms: number): Buffer {
  return Buffer.from(`retry: ${ms}\n\n`);
}

/** A comment that serves proxies and clients as a keepalive. */
export function heartbeat(position: Position): Buffer {
  return Buffer.concat([Buffer.from(': heartbeat\n'), idBlock(position)]);
}
