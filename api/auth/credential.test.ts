import { expect, test } from '@jest/globals';
import { Unauthorized } from '../shared/errors.ts';
import { credentialOf } from './credential.ts';

test.each([
  [{}, undefined],
  [{ cookie: 'other=1; tokens=2' }, undefined],
  [{ cookie: 'a=b; token=t1; tokens=t2' }, { token: 't1', source: 'cookie' }],
  // Browsers do not send such a cookie over plain HTTP, so it is forged.
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
])('reads the credential from %j', (headers, expected) => {
  expect(credentialOf({ headers }, false)).toEqual(expected);
});

test.each([
  ['token=t', 't'],
  ['__Host-token=h', 'h'],
  ['token=set-by-another-host; __Host-token=h', 'h'],
  ['token=a; token=b; __Host-token=h', 'h'],
])('prefers the cookie of this host over https: %s', (cookie, token) => {
  expect(credentialOf({ headers: { cookie } }, true)).toEqual({ token, source: 'cookie' });
});

test.each([
  ['token=a; token=b', false],
  ['token=a; x=1; token=a', false],
  ['token=a; token=b', true],
  ['__Host-token=a; __Host-token=b', true],
])('refuses two cookies of one name, whose owner is unknown: %s, https %p', (cookie, isHttps) => {
  expect(() => credentialOf({ headers: { cookie } }, isHttps)).toThrow(Unauthorized);
});
