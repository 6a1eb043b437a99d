import { describe, expect, test } from '@jest/globals';
import {
  apiErrorFrom,
  isAlreadyExists,
  isConflict,
  isForbidden,
  isGone,
  isInvalid,
  isNamespaceTerminating,
  isNotFound,
  isResourceVersionTooLarge,
  isUnavailable,
  UnreachableError,
} from './api-error.ts';

const helpers = {
  isAlreadyExists,
  isConflict,
  isForbidden,
  isGone,
  isInvalid,
  isNamespaceTerminating,
  isNotFound,
  isResourceVersionTooLarge,
  isUnavailable,
};

describe('the helpers that match an error', () => {
  test.each<[number, unknown, (keyof typeof helpers)[]]>([
    [404, { reason: 'NotFound' }, ['isNotFound']],
    [404, '404 page not found', ['isNotFound']],
    [409, { reason: 'AlreadyExists' }, ['isAlreadyExists']],
    [409, { reason: 'Conflict' }, ['isConflict']],
    [410, { reason: 'Expired' }, ['isGone']],
    [200, { code: 410, reason: 'Expired', message: 'too old resource version' }, ['isGone']],
    [403, { reason: 'Forbidden' }, ['isForbidden']],
    [
      403,
      { reason: 'Forbidden', details: { causes: [{ reason: 'NamespaceTerminating' }] } },
      ['isForbidden', 'isNamespaceTerminating'],
    ],
    [422, { reason: 'Invalid' }, ['isInvalid']],
    [429, { reason: 'TooManyRequests' }, ['isUnavailable']],
    [503, 'upstream is away', ['isUnavailable']],
    [
      504,
      { reason: 'Timeout', details: { causes: [{ reason: 'ResourceVersionTooLarge' }] } },
      ['isResourceVersionTooLarge', 'isUnavailable'],
    ],
  ])('of %p with %j are %p', (code, body, expected) => {
    const error = apiErrorFrom('GET /x', code, body);
    const yes = Object.entries(helpers).filter(([, matches]) => matches(error));
    expect(yes.map(([name]) => name)).toEqual([...expected].sort());
  });

  test('match an UnreachableError as unavailable, and no other error', () => {
    expect(isUnavailable(new UnreachableError('away'))).toBe(true);
    expect(Object.values(helpers).some((matches) => matches(new Error('other')))).toBe(false);
  });
});

test('has a message with the request, the code, the reason and the message', () => {
  const details = { name: 'web', causes: [{ field: 'spec.x', message: 'is bad' }] };
  const error = apiErrorFrom('PATCH /x', 422, { reason: 'Invalid', message: 'web is invalid', details });
  expect(error).toMatchObject({ code: 422, reason: 'Invalid', statusMessage: 'web is invalid', details });
  expect(error.message).toBe('PATCH /x: 422 Invalid: web is invalid');
});

test.each<[unknown, string]>([
  [null, 'ServiceUnavailable'],
  ['', 'ServiceUnavailable'],
  [{}, 'ServiceUnavailable'],
])('has a reason for a body without a Status: %j', (body, reason) => {
  expect(apiErrorFrom('GET /x', 503, body)).toMatchObject({ code: 503, reason, statusMessage: 'no message' });
});
