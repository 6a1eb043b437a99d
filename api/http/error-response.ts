import { ApiError, isInvalid, isNamespaceTerminating, isUnavailable } from '../../kubernetes/api-error.ts';
import { BEYOND_BOUNDS, OPEN_BODY_BYTES } from '../limits/json-bounds.ts';
import {
  Conflict,
  type ErrorDetail,
  HttpError,
  Invalid,
  invalid,
  NotFound,
  TooLarge,
  Unavailable,
} from '../shared/errors.ts';
import { GROUP_GOING, NO_SUCH_RESOURCE } from '../shared/messages.ts';

export interface ErrorResponse {
  status: number;
  headers: Readonly<Record<string, string>>;
  body: { error: string; details?: readonly ErrorDetail[] };
  /** Whether it is a fault of the server, which is logged. */
  isFault: boolean;
}

const internalError = "the API could not handle the request. Ask an administrator to check the API's log";

/** Converts errors to responses, in one place: every body is `{error, details?}`, without stack or secret. */
export function errorResponse(error: unknown): ErrorResponse {
  const known = error instanceof HttpError ? error : (fromKubernetes(error) ?? fromExpress(error));
  if (!known) return { status: 500, headers: {}, body: { error: internalError }, isFault: true };
  const { status, headers, message, details } = known;
  const body = { error: message, ...(details && { details }) };
  return { status, headers, body, isFault: status >= 500 };
}

function fromKubernetes(error: unknown): HttpError | undefined {
  if (isUnavailable(error)) {
    const retryAfterSeconds = error instanceof ApiError ? error.details.retryAfterSeconds : undefined;
    return new Unavailable('the cluster cannot be reached. Try again later', {
      cause: error,
      ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
    });
  }
  if (isNamespaceTerminating(error)) return new Conflict(GROUP_GOING, { cause: error });
  if (isInvalid(error)) {
    const causes = (error.details.causes ?? []).map(({ field, message }) => ({
      path: field ?? '',
      message: message ?? 'is not valid',
    }));
    const details = causes.length > 0 ? causes : [{ path: '', message: error.statusMessage }];
    return new Invalid('the cluster refused the resource, for the reasons in details. Correct these fields', {
      cause: error,
      details,
    });
  }
  if (!(error instanceof ApiError)) return undefined;
  switch (error.code) {
    case 404:
      return new NotFound(NO_SUCH_RESOURCE, { cause: error });
    case 409:
      return error.reason === 'AlreadyExists'
        ? new Conflict('a resource of this name already exists. Choose another name', { cause: error })
        : new Conflict('the resource was changed at the same time. Try again', { cause: error });
    case 403:
      // A quota, an admission policy, or a missing permission: the log says which.
      return new Unavailable(
        "the cluster does not permit Coppice to do this. Ask an administrator to check the API's log",
        {
          cause: error,
        },
      );
    default:
      return undefined;
  }
}

/** Errors of express and its body parser have a status, and most a type. */
function fromExpress(error: unknown): HttpError | undefined {
  if (error instanceof URIError) return new NotFound(NO_SUCH_RESOURCE, { cause: error });
  if (!(error instanceof Error) || !('status' in error)) return undefined;
  if (error.status === 413) return tooLarge(error);
  if ('type' in error && error.type === BEYOND_BOUNDS) {
    return invalid('the body', [{ path: '', message: error.message }], { cause: error });
  }
  if (typeof error.status !== 'number' || error.status >= 500) return undefined;
  const message =
    'type' in error && error.type === 'entity.parse.failed'
      ? 'is not valid JSON'
      : 'cannot be read: send JSON in UTF-8';
  return invalid('the body', [{ path: '', message }], { cause: error });
}

/** Requests without a login contain an address and a password, and have a smaller limit. */
function tooLarge(error: Error): TooLarge {
  const isOpen = 'limit' in error && error.limit === OPEN_BODY_BYTES;
  const message = isOpen
    ? 'the body is too large: the limit is 16 KiB. Send less'
    : 'the body is too large: the limit is 1 MiB. Send less';
  return new TooLarge(message, { cause: error });
}
