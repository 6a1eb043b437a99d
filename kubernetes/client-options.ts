import type { RequestObserver } from './http-transport.ts';

export interface RequestOptions {
  /** Default 30 s, retries included. */
  timeoutMs?: number | undefined;
  signal?: AbortSignal | undefined;
}

export interface Selection {
  /** Without it: all namespaces. */
  namespace?: string | undefined;
  labelSelector?: string | undefined;
  fieldSelector?: string | undefined;
  /** Objects come with their metadata alone: spec and status stay in the API server. */
  metadataOnly?: boolean | undefined;
}

export interface ListOptions extends Selection, RequestOptions {
  limit?: number | undefined;
  continue?: string | undefined;
}

export interface ObjectList<T> {
  items: T[];
  resourceVersion: string;
  /** There is more: the token for the next page. */
  continue?: string | undefined;
}

export interface WatchOptions extends Selection {
  resourceVersion: string;
  /** The API server ends the watch after this time; it is cut 30 s later in any case. */
  timeoutSeconds: number;
  signal?: AbortSignal | undefined;
}

/** A bookmark's object holds a resource version and nothing else. */
export interface WatchEvent<T> {
  type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK';
  object: T;
}

export interface ApplyOptions extends RequestOptions {
  fieldManager: string;
  /** Takes fields over from other managers in place of a Conflict. */
  force?: boolean | undefined;
}

export interface PatchOptions extends RequestOptions {
  /** Conflict unless the object still is at this version. */
  resourceVersion?: string | undefined;
}

export interface DeleteOptions extends RequestOptions {
  uid?: string | undefined;
  resourceVersion?: string | undefined;
  propagationPolicy?: 'Background' | 'Foreground' | 'Orphan' | undefined;
  gracePeriodSeconds?: number | undefined;
}

export interface PodLogOptions {
  container?: string | undefined;
  /** Of the run of the container before the present one. */
  previous?: boolean | undefined;
  /** Until the container ends, or the signal. */
  follow?: boolean | undefined;
  timestamps?: boolean | undefined;
  /** RFC 3339; the API server compares whole seconds, so lines of that second come again. */
  sinceTime?: string | undefined;
  /** So many of the last lines. */
  tailLines?: number | undefined;
  /** Leaves out a last line without a newline: a kubelet that breaks off in the middle of one looks like a log's end. */
  wholeLinesOnly?: boolean | undefined;
  /** Fails with UnreachableError when nothing comes for so long: a follower resumes with sinceTime. */
  idleTimeoutMs?: number | undefined;
  signal?: AbortSignal | undefined;
}

export interface ClientOptions {
  userAgent?: string;
  observe?: RequestObserver;
}
