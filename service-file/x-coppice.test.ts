import { expect, test } from '@jest/globals';
import { extendedFile } from './x-coppice.ts';

const service = (extension: unknown) => ({ services: { web: { image: 'a', 'x-coppice': extension } } });

test.each<[string, unknown]>([
  ['a port from a variable', service({ public: [{ port: '${PORT:-80}', path: '${BASE}' }] })],
  ['retries from a variable', service({ healthcheck: { port: '80', retries: '${N}' } })],
  ['an empty x-coppice of a service', service(null)],
  ['an empty x-coppice of a volume', { volumes: { data: { 'x-coppice': null } } }],
  ['another extension of the whole file', { 'x-common': {} }],
  ['tests', { 'x-coppice': { tests: [{ name: 'home', type: 'http', params: { paths: [{ path: '/' }] } }] } }],
  ['labels of reusable environments', { 'x-coppice': { reusable: 'seeded', from: '${BASE}' } }],
])('accepts %s', (_, file) => {
  expect(extendedFile.safeParse(file).error).toBeUndefined();
});

test.each<[string, unknown]>([
  ["another key of the whole file's x-coppice", { 'x-coppice': { size: '1Gi' } }],
  ['a test without a type', { 'x-coppice': { tests: [{ name: 'home' }] } }],
  ['an invalid label', { 'x-coppice': { reusable: 'A b' } }],
  ['an invalid port', service({ public: [{ port: 'http' }] })],
  ['a path that does not start with /', service({ public: [{ port: 80, path: 'api' }] })],
])('refuses %s', (_, file) => {
  expect(extendedFile.safeParse(file).success).toBe(false);
});
