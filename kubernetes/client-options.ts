import type { RequestObserver } from './http-transport.ts';

export interface RequestOptions {
  /** Timeout including retries. Default 30 s. */
  timeoutMs?: number | undefined;
  signal?: AbortSignal | undefined;
}

export interface Selection {
  /** Defaults to all namespaces. */
  namespace?: string | undefined;
  labelSelector?: string | undefined;
  fieldSelector?: string | undefined;
  /** Whether to return only the objects' metadata, without spec and status. */
  metadataOnly?: boolean | undefined;
}

export interface ListOptions extends Selection, RequestOptions {
  limit?: number | undefined;
  /** Maximum size of the answer, for APIs that ignore `limit`: fails with TooLargeError. None by default. */
  maxBytes?: number | undefined;
  continue?: string | undefined;
  /** Called with the token for the next page before the page is parsed; not called for a list of an unusual form. */
  onContinue?: ((token: string) => void) | undefined;
}

export interface ObjectList<T> {
  items: T[];
  resourceVersion: string;
  /** The token for the next page, if there is one. */
  continue?: string | undefined;
}

export interface WatchOptions extends Selection {
  resourceVersion: string;
  /** The API server ends the watch after this time; the client closes it 30 s later in any case. */
  timeoutSeconds: number;
  signal?: AbortSignal | undefined;
}

/** The object of a bookmark contains only a resource version. */
export interface WatchEvent<T> {
  type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK';
  object: T;
}

export interface WriteOptions extends RequestOptions {
  /** Who owns the written fields; by default the first part of the user agent. */
  fieldManager?: string | undefined;
}

export interface ApplyOptions extends RequestOptions {
  fieldManager: string;
  /** Takes over fields of other managers instead of failing with a Conflict. */
  force?: boolean | undefined;
}

export interface PatchOptions extends RequestOptions {
  /** Fails with a Conflict unless the object has this version. */
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
  /** Reads the log of the container's previous run. */
  previous?: boolean | undefined;
  /** Continues until the container ends or the signal is aborted. */
  follow?: boolean | undefined;
  timestamps?: boolean | undefined;
  /** RFC 3339; the API server compares whole seconds, so lines of that second are repeated. */
  sinceTime?: string | undefined;
  /** Number of last lines to read. */
  tailLines?: number | undefined;
  /**
   * Omits a last line without a newline, because a kubelet that stops in the middle of a line looks like the end of the
   * log.
   */
  wholeLinesOnly?: boolean | undefined;
  /** Fails with UnreachableError after this time without data, in milliseconds; a follower resumes with sinceTime. */
  idleTimeoutMs?: number | undefined;
  signal?: AbortSignal | undefined;
}

export interface ClientOptions {
  userAgent?: string;
  observe?: RequestObserver;
}
