import { describe, expect, test } from '@jest/globals';
import { ApiError, UnreachableError } from '../../kubernetes/api-error.ts';
import { errorResponse } from './error-response.ts';
import { Conflict, Invalid, Unavailable } from '../shared/errors.ts';

const terminating = { causes: [{ reason: 'NamespaceTerminating' }] };
const causes = { causes: [{ field: 'spec.gitRef.name', message: 'is not valid' }] };

describe('an error of Kubernetes', () => {
  test.each<[string, Error, number, object?]>([
    ['not found', new ApiError('GET /x', 404, 'NotFound', 'no x'), 404],
    ['already exists', new ApiError('POST /x', 409, 'AlreadyExists', 'x exists'), 409],
    ['a conflict', new ApiError('PATCH /x', 409, 'Conflict', 'changed'), 409],
    ['a namespace that is being deleted', new ApiError('POST /x', 403, 'Forbidden', 'terminating', terminating), 409],
    ['a quota', new ApiError('POST /x', 403, 'Forbidden', 'exceeded quota'), 503],
    [
      'refused with causes',
      new ApiError('POST /x', 422, 'Invalid', 'long', causes),
      422,
      { details: [{ path: 'spec.gitRef.name', message: 'is not valid' }] },
    ],
    [
      'refused without',
      new ApiError('POST /x', 400, 'BadRequest', 'why'),
      422,
      { details: [{ path: '', message: 'why' }] },
    ],
    ['too many requests', new ApiError('GET /x', 429, 'TooManyRequests', 'slow'), 503],
    ['broken', new ApiError('GET /x', 500, 'InternalError', 'etcd'), 503],
    ['unreachable', new UnreachableError('GET https://10.0.0.1'), 503],
    ['our token is not taken', new ApiError('GET /x', 401, 'Unauthorized', 'no'), 500],
  ])('%s', (_name, error, status, body = {}) => {
    const answer = errorResponse(error);
    expect(answer).toMatchObject({ status, isFault: status >= 500, body });
    expect(JSON.stringify(answer)).not.toMatch(/\/x|10\.0\.0\.1|etcd/);
  });

  test('keeps Retry-After', () => {
    const busy = new ApiError('GET /x', 429, 'TooManyRequests', 'slow', { retryAfterSeconds: 7 });
    expect(errorResponse(busy).headers).toEqual({ 'Retry-After': '7' });
  });
});

test.each<[unknown, number]>([
  [new Conflict('c'), 409],
  [new Unavailable('u'), 503],
  [new Invalid('i', { details: [{ path: 'a', message: 'm' }] }), 422],
  [new URIError('Failed to decode'), 404],
  [Object.assign(new Error('unsupported charset'), { status: 415, type: 'charset.unsupported' }), 422],
  [Object.assign(new Error('stream'), { status: 500, type: 'stream.encoding.set' }), 500],
  [new TypeError('secret of ours'), 500],
  ['thrown text', 500],
])('answers %p with %d', (error, status) => {
  const { body, ...answer } = errorResponse(error);
  expect(answer.status).toBe(status);
  if (status === 500)
    expect(body).toEqual({
      error: "the API could not handle the request. Ask an administrator to check the API's log",
    });
});
