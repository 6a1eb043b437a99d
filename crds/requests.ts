import { z } from 'zod';
import { API_GROUP } from './api-group.ts';

/**
 * One-off requests to an object are annotations with an opaque value, as Flux's requestedAt: a value that differs from
 * the one the status records as handled is a new request. `<RFC 3339 time>/<id>` orders requests among themselves; a
 * ttl request ends in `/<seconds>`.
 */
export const REQUESTS = ['create', 'delete', 'build', 'ttl'] as const;
export type RequestName = (typeof REQUESTS)[number];

export const handledRequestsSchema = z.object({
  create: z.string().optional(),
  delete: z.string().optional(),
  build: z.string().optional(),
  ttl: z.string().optional(),
});
export type HandledRequests = z.infer<typeof handledRequestsSchema>;

export function requestAnnotation(name: RequestName): string {
  return `${API_GROUP}/request-${name}`;
}

/** A new request's value. `id`, without a slash, makes two requests of the same millisecond differ. */
export function requestValue(now: Date, id: string): string {
  return `${now.toISOString()}/${id}`;
}

/** The value of a request for a new time to live; 0 seconds mean none. */
export function ttlRequestValue(now: Date, id: string, seconds: number): string {
  return `${requestValue(now, id)}/${seconds}`;
}

/** The seconds that a ttl request asks for, or undefined when its value names none. */
export function requestedTtlSeconds(value: string): number | undefined {
  const seconds = /\/(\d{1,9})$/.exec(value)?.[1];
  return seconds === undefined ? undefined : Number(seconds);
}

export interface PendingRequest {
  name: RequestName;
  value: string;
  /** When it was made, in Unix milliseconds; 0 when the value does not begin with a time. */
  at: number;
}

/** The requests that were not handled yet, in the order they were made. */
export function pendingRequests(
  annotations: Record<string, string> | undefined,
  handled: HandledRequests | undefined,
): PendingRequest[] {
  return REQUESTS.flatMap((name) => {
    const value = annotations?.[requestAnnotation(name)];
    if (value === undefined || value === handled?.[name]) return [];
    const time = Date.parse(value.split('/')[0] ?? '');
    return [{ name, value, at: Number.isNaN(time) ? 0 : time }];
  }).sort((a, b) => a.at - b.at);
}
