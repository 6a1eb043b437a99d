import { expect, test } from '@jest/globals';
import { formatReference, parseReference } from './reference.ts';

const digest = `sha256:${'a'.repeat(64)}`;

test.each([
  ['node', 'docker.io/library/node:latest'],
  ['node:24-slim', 'docker.io/library/node:24-slim'],
  ['bitnami/redis:7', 'docker.io/bitnami/redis:7'],
  ['docker.io/node', 'docker.io/library/node:latest'],
  ['index.docker.io/acme/x', 'docker.io/acme/x:latest'],
  ['ghcr.io/acme/x/y:1', 'ghcr.io/acme/x/y:1'],
  ['localhost/x', 'localhost/x:latest'],
  ['registry:5000/a/b', 'registry:5000/a/b:latest'],
  [`node@${digest}`, `docker.io/library/node:latest@${digest}`],
  [`ghcr.io/a/b:1@${digest}`, `ghcr.io/a/b:1@${digest}`],
])('reads %s as %s', (text, whole) => {
  const reference = parseReference(text);
  expect(reference && formatReference(reference)).toBe(whole);
  expect(parseReference(whole)).toEqual(reference);
});

test.each([
  '',
  'Node',
  'node:',
  'node:a b',
  'a//b',
  '../x',
  'ghcr.io/',
  'x@sha256:12',
  `x@${digest}@${digest}`,
  'user:password@host.example/x',
  'a'.repeat(600),
])('refuses %j', (text) => {
  expect(parseReference(text)).toBeUndefined();
});
