/** One cause of a Status: the field and the reason. */
export interface StatusCause {
  reason?: string;
  message?: string;
  field?: string;
}

/** The `details` of a Kubernetes Status. */
export interface StatusDetails {
  name?: string;
  group?: string;
  kind?: string;
  uid?: string;
  causes?: StatusCause[];
  retryAfterSeconds?: number;
}

/** The API server refused a request; contains its Status. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  /** HTTP status code. */
  readonly code: number;
  /** Machine-readable reason: `NotFound`, `AlreadyExists`, `Conflict`, `Invalid`… */
  readonly reason: string;
  readonly details: StatusDetails;
  /** The Status's message, without the request. */
  readonly statusMessage: string;

  constructor(request: string, code: number, reason: string, statusMessage: string, details: StatusDetails = {}) {
    super(`${request}: ${code} ${reason}: ${statusMessage}`);
    this.code = code;
    this.reason = reason;
    this.details = details;
    this.statusMessage = statusMessage;
  }
}

/** No response arrived in time: the request may or may not have been carried out. */
export class UnreachableError extends Error {
  override readonly name = 'UnreachableError';
}

/** The response is larger than the request permits; what arrived of it was dropped. */
export class TooLargeError extends Error {
  override readonly name = 'TooLargeError';
}

const reasons: Record<number, string> = {
  400: 'BadRequest',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'NotFound',
  405: 'MethodNotAllowed',
  409: 'Conflict',
  410: 'Expired',
  413: 'RequestEntityTooLarge',
  422: 'Invalid',
  429: 'TooManyRequests',
  500: 'InternalError',
  503: 'ServiceUnavailable',
  504: 'Timeout',
};

/** Returns the error for a response's body: usually a Status, or a line of text if a proxy sent it. */
export function apiErrorFrom(request: string, code: number, body: unknown): ApiError {
  if (typeof body === 'object' && body !== null) {
    const status = body as { code?: unknown; reason?: unknown; message?: unknown; details?: StatusDetails | null };
    const statusCode = typeof status.code === 'number' ? status.code : code;
    return new ApiError(
      request,
      statusCode,
      typeof status.reason === 'string' && status.reason !== '' ? status.reason : (reasons[statusCode] ?? 'Unknown'),
      typeof status.message === 'string' ? status.message : 'no message',
      status.details ?? {},
    );
  }
  const text = typeof body === 'string' && body.trim() !== '' ? body.trim().slice(0, 500) : 'no message';
  return new ApiError(request, code, reasons[code] ?? 'Unknown', text);
}

function hasCode(error: unknown, code: number): error is ApiError {
  return error instanceof ApiError && error.code === code;
}

export function isNotFound(error: unknown): error is ApiError {
  return hasCode(error, 404);
}

/**
 * Returns whether the object changed since it was read, or another field manager owns a field; false for AlreadyExists.
 */
export function isConflict(error: unknown): error is ApiError {
  return hasCode(error, 409) && error.reason === 'Conflict';
}

export function isAlreadyExists(error: unknown): error is ApiError {
  return hasCode(error, 409) && error.reason === 'AlreadyExists';
}

/** Returns whether the resource version or continue token is older than the API server's history. */
export function isGone(error: unknown): error is ApiError {
  return hasCode(error, 410);
}

export function isForbidden(error: unknown): error is ApiError {
  return hasCode(error, 403);
}

/** Returns whether the namespace is being deleted, so that nothing can be created in it. */
export function isNamespaceTerminating(error: unknown): error is ApiError {
  return isForbidden(error) && (error.details.causes ?? []).some((cause) => cause.reason === 'NamespaceTerminating');
}

/** Returns whether the object was refused by its schema, its CEL rules or an admission webhook. */
export function isInvalid(error: unknown): error is ApiError {
  return hasCode(error, 422) || hasCode(error, 400);
}

/** Returns whether the cluster cannot respond now, and the same request may succeed later. */
export function isUnavailable(error: unknown): boolean {
  if (error instanceof UnreachableError) return true;
  return error instanceof ApiError && (error.code === 429 || error.code >= 500);
}

/**
 * Returns whether a watch or list requested a resource version that the API server has not reached, as after restoring
 * etcd.
 */
export function isResourceVersionTooLarge(error: unknown): error is ApiError {
  return (
    hasCode(error, 504) && (error.details.causes ?? []).some((cause) => cause.reason === 'ResourceVersionTooLarge')
  );
}
