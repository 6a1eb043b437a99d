import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { KnownEnvironment } from '../waker-protocol/messages.ts';
import type { Treatment } from './visitor.ts';

/** What a request is about. */
export interface Visit {
  environment: KnownEnvironment;
  host: string;
  path: string;
  treatment: Treatment;
}

/** A request and its response. */
export interface Exchange {
  request: IncomingMessage;
  response: ServerResponse;
  /** Aborted when the client disconnects, and when the response has been sent. */
  closed: AbortSignal;
}

/** What became of a request. */
export type Outcome = 'forwarded' | 'page' | 'refused' | 'full' | 'late' | 'unknown' | 'failed' | 'own';

/** Returns a signal that is aborted when the response or socket is closed. */
export function abortedWith(closing: ServerResponse | Socket): AbortSignal {
  const closed = new AbortController();
  closing.once('close', () => closed.abort());
  return closed.signal;
}
