import { expect, test } from '@jest/globals';
import { Unauthorized } from '../shared/errors.ts';
import { credentialOf } from './credential.ts';

test.each([
  [{}, undefined],
  [{ cookie: 'other=1; tokens=2' }, undefined],
  [{ cookie: 'a=b; token=t1; tokens=t2' }, { token: 't1', source: 'cookie' }],
  // Over plain HTTP browsers keep no such cookie: whoever sends one made it up.
  [{ cookie: '__Host-token=h' }, undefined],
  [{ cookie: '__Host-token=h; token=t' }, { token: 't', source: 'cookie' }],
  [
    { 'x-service-token': 'h', cookie: 'token=a; token=b' },
    { token: 'h', source: 'header' },
  ],
  [{ cookie: 'token=a=b' }, { token: 'a=b', source: 'cookie' }],
  [{ cookie: 'token=' }, { token: '', source: 'cookie' }],
  [
    { 'x-service-token': 'h', cookie: 'token=c' },
    { token: 'h', source: 'header' },
  ],
  [
    { 'x-service-token': '', cookie: 'token=c' },
    { token: '', source: 'header' },
  ],
])('%j', (headers, expected) => {
  expect(credentialOf({ headers }, false)).toEqual(expected);
});

test.each([
  ['token=t', 't'],
  ['__Host-token=h', 'h'],
  ['token=set-by-another-host; __Host-token=h', 'h'],
  ['token=a; token=b; __Host-token=h', 'h'],
])('over https, %s', (cookie, token) => {
  expect(credentialOf({ headers: { cookie } }, true)).toEqual({ token, source: 'cookie' });
});

test.each([
  ['token=a; token=b', false],
  ['token=a; x=1; token=a', false],
  ['token=a; token=b', true],
  ['__Host-token=a; __Host-token=b', true],
])('%s, https %p: of two nobody knows which is theirs', (cookie, isHttps) => {
  expect(() => credentialOf({ headers: { cookie } }, isHttps)).toThrow(Unauthorized);
});
