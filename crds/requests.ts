import { z } from 'zod';
import { API_GROUP } from './api-group.ts';
import { ANNOTATIONS } from './labels.ts';

/**
 * One-off requests to an object are annotations with an opaque value, as Flux's requestedAt: a value that differs from
 * the one the status records as handled is a new request. `<RFC 3339 time>/<id>` orders requests among themselves; a
 * ttl request ends in `/<seconds>`.
 */
export const REQUESTS = ['create', 'delete', 'build', 'rebuild', 'ttl', 'sleep', 'wake'] as const;
export type RequestName = (typeof REQUESTS)[number];

/** Request to synchronize a Repository with the Git host's refs. */
export const SYNC_REQUEST = 'sync';

/**
 * Request to run an Environment's tests again; separate, because another writer handles and records it
 * (`status.tests`).
 */
export const TEST_REQUEST = 'test';

/**
 * Approval of one commit of a fork, `<time>/<id>/<commit>/<who>`; separate, because it changes no contents and is recorded
 * with its commit (`status.approval`).
 */
export const APPROVE_REQUEST = 'approve';

/** All requests of an Environment; Groups have none. */
export const ENVIRONMENT_REQUESTS: readonly string[] = [...REQUESTS, TEST_REQUEST, APPROVE_REQUEST];
export const REPOSITORY_REQUESTS: readonly string[] = [SYNC_REQUEST];

export const handledRequestsSchema = z.object({
  create: z.string().optional().meta({ description: 'Value of the last handled request to create contents.' }),
  delete: z.string().optional().meta({ description: 'Value of the last handled request to delete the contents.' }),
  build: z.string().optional().meta({ description: 'Value of the last handled request to build.' }),
  rebuild: z.string().optional().meta({ description: 'Value of the last handled request to rebuild.' }),
  ttl: z.string().optional().meta({ description: 'Value of the last handled request to change the time to live.' }),
  sleep: z.string().optional().meta({ description: 'Value of the last handled request to sleep.' }),
  wake: z.string().optional().meta({ description: 'Value of the last handled request to wake.' }),
});
export type HandledRequests = z.infer<typeof handledRequestsSchema>;

/** Pattern of a request's ID: short, and safe in log lines, headers and request values. */
export const REQUEST_ID_PATTERN = /^[A-Za-z0-9._-]{1,64}$/;

/**
 * Returns the ID of the REST request that wrote the newest of these annotations; undefined if none did. Only for logs:
 * kubectl users can write any value.
 */
export function newestRequestId(annotations: Record<string, string> | undefined): string | undefined {
  const newest = requestValues(annotations).sort().at(-1);
  const id = newest === undefined ? annotations?.[ANNOTATIONS.requestId] : newest.split('/')[1];
  return id !== undefined && REQUEST_ID_PATTERN.test(id) ? id : undefined;
}

const requestPrefix = `${API_GROUP}/request-`;

type AnyRequest = RequestName | typeof SYNC_REQUEST | typeof TEST_REQUEST | typeof APPROVE_REQUEST;

export function requestAnnotation(name: AnyRequest): string {
  return `${requestPrefix}${name}`;
}

const maxShownLength = 60;

/** Returns what is wrong with each malformed or unknown request, sorted by name; `known` are those of the kind. */
export function malformedRequests(known: readonly string[], annotations: Record<string, string> | undefined): string[] {
  return Object.entries(annotations ?? {})
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .flatMap(([key, value]) => {
      if (!key.startsWith(requestPrefix)) return [];
      const name = key.slice(requestPrefix.length);
      if (!known.includes(name)) return [`${shown(key)} is unknown: ${knownNames(known)}`];
      const form = formOf(name, value);
      return form === undefined ? [] : [`${key} has the value ${shown(value)}, which ${form}`];
    });
}

/** Returns what is wrong with the value of a request; undefined if nothing is. */
function formOf(name: string, value: string): string | undefined {
  if (name === 'ttl' && requestedTtlSeconds(value) === undefined) return 'does not end in /SECONDS';
  if (name === APPROVE_REQUEST && !requestedApproval(value)) return 'is not TIME/ID/COMMIT/NAME with a whole commit ID';
  return undefined;
}

function knownNames(known: readonly string[]): string {
  return known.length > 0
    ? `known are ${known.map((name) => requestPrefix + name).join(', ')}`
    : 'this kind has no requests';
}

function shown(text: string): string {
  return text.length > maxShownLength ? `${text.slice(0, maxShownLength)}…` : text;
}

/** Returns the values of all requests on an object, handled or not. */
function requestValues(annotations: Record<string, string> | undefined): string[] {
  return Object.entries(annotations ?? {}).flatMap(([key, value]) => (key.startsWith(requestPrefix) ? [value] : []));
}

/** The maximum time of a Date, in Unix milliseconds. */
const endOfTime = 8.64e15;

/**
 * Returns the time for a new request: now, or just after all earlier requests of the object if another clock is ahead,
 * so that the last request wins. `annotations`: the object's.
 */
export function nextRequestTime(now: Date, annotations: Record<string, string> | undefined): Date {
  const times = requestValues(annotations).map((value) => (requestTime(value) ?? 0) + 1);
  return new Date(Math.min(Math.max(now.getTime(), ...times), endOfTime));
}

/** Returns a new request's value. `id`, without a slash, distinguishes requests of the same millisecond. */
export function requestValue(now: Date, id: string): string {
  return `${now.toISOString()}/${id}`;
}

/** Returns the value of a request for a new time to live; 0 seconds means unlimited. */
export function ttlRequestValue(now: Date, id: string, seconds: number): string {
  return `${requestValue(now, id)}/${seconds}`;
}

/** Returns the seconds of a ttl request, or undefined if its value has none. */
export function requestedTtlSeconds(value: string): number | undefined {
  const seconds = /\/(\d{1,9})$/.exec(value)?.[1];
  return seconds === undefined ? undefined : Number(seconds);
}

/** Pattern of a whole commit ID. A prefix could be that of another commit, which its author can construct. */
export const COMMIT_PATTERN = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/;

/** Maximum length of the name in an approval. */
export const MAX_APPROVER = 256;
/** Maximum length of the value of an approve request, which the status records. */
export const MAX_APPROVAL = 512;

/** Returns a new request to approve a commit. @param who the name to record, which can contain slashes */
export function approveRequestValue(now: Date, id: string, { commit, who }: { commit: string; who: string }): string {
  return `${requestValue(now, id)}/${commit}/${who.slice(0, MAX_APPROVER)}`;
}

/** Returns the commit that a request approves, and who approved it; undefined if its value names no whole commit. */
export function requestedApproval(value: string): { commit: string; who?: string } | undefined {
  const [, , commit = '', ...names] = value.split('/');
  if (value.length > MAX_APPROVAL || !COMMIT_PATTERN.test(commit)) return undefined;
  const who = names.join('/').slice(0, MAX_APPROVER);
  return { commit, ...(who !== '' && { who }) };
}

export interface PendingRequest {
  name: RequestName;
  value: string;
  /** When it was made, in Unix milliseconds; 0 if the value does not start with a time. */
  at: number;
}

/** Returns the requests that have not been handled, in order. */
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

/** Returns when a request was made, in Unix milliseconds; undefined if its value does not start with a time. */
export function requestTime(value: string | undefined): number | undefined {
  const time = Date.parse(value?.split('/')[0] ?? '');
  return Number.isNaN(time) ? undefined : time;
}
