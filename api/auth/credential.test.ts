import { expect, test } from '@jest/globals';
import { credentialOf } from './credential.ts';

test.each([
  [{}, undefined],
  [{ cookie: 'other=1; tokens=2' }, undefined],
  [{ cookie: 'a=b; token=t1; token=t2' }, { token: 't1', source: 'cookie' }],
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
  expect(credentialOf({ headers })).toEqual(expected);
});
