import { z } from 'zod';
import { API_GROUP } from './api-group.ts';
import { ANNOTATIONS } from './labels.ts';

/**
 * One-off requests to an object are annotations with an opaque value, as Flux's requestedAt: a value that differs from
 * the one the status records as handled is a new request. `<RFC 3339 time>/<id>` orders requests among themselves; a
 * ttl request ends in `/<seconds>`.
 */
export const REQUESTS = ['create', 'delete', 'build', 'rebuild', 'ttl'] as const;
export type RequestName = (typeof REQUESTS)[number];

/** The one request to a Repository: to look at the Git host's refs now. */
export const SYNC_REQUEST = 'sync';

/** To test an Environment again: apart from the others, for another writer handles it and records that (`status.tests`). */
export const TEST_REQUEST = 'test';

/** All requests to an Environment, and to a Repository; a Group takes none. */
export const ENVIRONMENT_REQUESTS: readonly string[] = [...REQUESTS, TEST_REQUEST];
export const REPOSITORY_REQUESTS: readonly string[] = [SYNC_REQUEST];

export const handledRequestsSchema = z.object({
  create: z.string().optional().meta({ description: 'Value of the last handled request for contents.' }),
  delete: z.string().optional().meta({ description: 'Value of the last handled request to delete the contents.' }),
  build: z.string().optional().meta({ description: 'Value of the last handled request to build.' }),
  rebuild: z.string().optional().meta({ description: 'Value of the last handled request to rebuild.' }),
  ttl: z.string().optional().meta({ description: 'Value of the last handled request for another time to live.' }),
});
export type HandledRequests = z.infer<typeof handledRequestsSchema>;

/** Of a request's id: short, and nothing that could break a log line, a header or a request's value. */
export const REQUEST_ID_PATTERN = /^[A-Za-z0-9._-]{1,64}$/;

/**
 * The id of the REST request that asked last, by these annotations, for something; undefined where nothing was asked
 * for so. It is for logs alone: who writes with kubectl may write any.
 */
export function newestRequestId(annotations: Record<string, string> | undefined): string | undefined {
  const newest = requestValues(annotations).sort().at(-1);
  const id = newest === undefined ? annotations?.[ANNOTATIONS.requestId] : newest.split('/')[1];
  return id !== undefined && REQUEST_ID_PATTERN.test(id) ? id : undefined;
}

const requestPrefix = `${API_GROUP}/request-`;

export function requestAnnotation(name: RequestName | typeof SYNC_REQUEST | typeof TEST_REQUEST): string {
  return `${requestPrefix}${name}`;
}

const maxShownLength = 60;

/** Returns what is wrong with each request that nobody can handle, in the order of their names; `known` are the kind's. */
export function malformedRequests(known: readonly string[], annotations: Record<string, string> | undefined): string[] {
  return Object.entries(annotations ?? {})
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .flatMap(([key, value]) => {
      if (!key.startsWith(requestPrefix)) return [];
      const name = key.slice(requestPrefix.length);
      if (!known.includes(name)) return [`${shown(key)} is unknown: ${knownNames(known)}`];
      if (name !== 'ttl' || requestedTtlSeconds(value) !== undefined) return [];
      return [`${key} has the value ${shown(value)}, which does not end in /SECONDS`];
    });
}

function knownNames(known: readonly string[]): string {
  return known.length > 0 ? `known are ${known.map((name) => requestPrefix + name).join(', ')}` : 'there are none here';
}

function shown(text: string): string {
  return text.length > maxShownLength ? `${text.slice(0, maxShownLength)}…` : text;
}

/** The values of all requests on an object, handled or not. */
function requestValues(annotations: Record<string, string> | undefined): string[] {
  return Object.entries(annotations ?? {}).flatMap(([key, value]) => (key.startsWith(requestPrefix) ? [value] : []));
}

/** The last time that a Date can hold, in Unix milliseconds. */
const endOfTime = 8.64e15;

/**
 * When a request is made: now, but after all that were made of the object before, whoever's clock is ahead, for the last
 * word counts. `annotations`: the object's.
 */
export function nextRequestTime(now: Date, annotations: Record<string, string> | undefined): Date {
  const times = requestValues(annotations).map((value) => (requestTime(value) ?? 0) + 1);
  return new Date(Math.min(Math.max(now.getTime(), ...times), endOfTime));
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
    return [{ name, value, at: requestTime(value) ?? 0 }];
  }).sort((a, b) => a.at - b.at);
}

/** When a request was made, in Unix milliseconds; undefined when its value does not begin with a time. */
export function requestTime(value: string | undefined): number | undefined {
  const time = Date.parse(value?.split('/')[0] ?? '');
  return Number.isNaN(time) ? undefined : time;
}
