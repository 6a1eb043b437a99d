import { expect, test } from '@jest/globals';
import { HostBusyError } from '../errors.ts';
import { answerError } from './answer-error.ts';

const now = new Date('2026-01-01T00:00:00Z');
const seconds = now.getTime() / 1000;

test.each([
  [429, { 'retry-after': '30' }, '', 30_000],
  [429, { 'retry-after': 'Thu, 01 Jan 2026 00:02:00 GMT' }, '', 120_000],
  [429, { 'retry-after': '0' }, '', 1000],
  [429, { 'retry-after': '999999' }, '', 3600_000],
  [429, { 'retry-after': 'soon' }, '', 60_000],
  [429, {}, '', 60_000],
  [429, { 'x-ratelimit-reset': String(seconds + 90) }, '', 90_000],
  [403, { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': String(seconds + 600) }, '', 600_000],
  [403, { 'retry-after': '5' }, '', 5000],
  [403, {}, '{"message":"You have exceeded a secondary rate limit"}', 60_000],
  [503, { 'retry-after': '20' }, '', 20_000],
])('reads %i with %j as a wait of so many milliseconds', (status, headers, body, expected) => {
  const error = answerError('git.example', 'GET /x', { status, headers, body }, now);
  expect(error).toBeInstanceOf(HostBusyError);
  expect(error).toMatchObject({ retryAfterMs: expected });
});

test.each([
  [401, { name: 'SourceRefusedError', reason: 'AuthenticationFailed' }],
  [403, { name: 'SourceRefusedError', reason: 'Forbidden' }],
  [404, { name: 'SourceRefusedError', reason: 'NotFound' }],
  [410, { name: 'SourceRefusedError', reason: 'Refused' }],
  [302, { name: 'SourceRefusedError', reason: 'Refused' }],
  [304, { name: 'SourceUnreachableError' }],
  [408, { name: 'SourceUnreachableError' }],
  [425, { name: 'SourceUnreachableError' }],
  [500, { name: 'SourceUnreachableError' }],
  [503, { name: 'SourceUnreachableError' }],
])('reads %i as an error otherwise', (status, expected) => {
  const headers = { 'x-ratelimit-remaining': '10' };
  const error = answerError('git.example', 'GET /x', { status, headers, body: 'tok-5ecret' }, now);
  expect(error).toMatchObject({ ...expected, message: expect.stringContaining('git.example') });
  expect(error.message).toContain('GET /x');
  expect(error.message).not.toContain('tok-5ecret');
});
