import { expect, test } from '@jest/globals';
import { originFault } from './repository-parameters.ts';

test.each([
  ['https://git.example/a.git', undefined],
  ['http://git.localhost:8080/a', undefined],
  ['HTTPS://git.example/a', 'must be an http:// or https:// URL'],
  ['git@host:a/b.git', 'SSH origins are not supported yet'],
  ['host:a/b.git', 'SSH origins are not supported yet'],
  ['ssh://git@host/a', 'SSH origins are not supported yet'],
  ['https://user:secret@host/a', 'must hold no credentials: send them as username and password'],
  ['https://token@host/a', 'must hold no credentials: send them as username and password'],
  ['ftp://host/a', 'must be an http:// or https:// URL'],
  ['file:///etc/passwd', 'must be an http:// or https:// URL'],
  ['--upload-pack=x', 'must be an http:// or https:// URL'],
  ['https://', 'must be an http:// or https:// URL'],
  ['', 'must be an http:// or https:// URL'],
])('%s', (origin, expected) => {
  expect(originFault(origin)).toBe(expected);
});
