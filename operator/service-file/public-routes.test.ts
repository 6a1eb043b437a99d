import { describe, expect, test } from '@jest/globals';
import { parseServiceFile } from './parse.ts';

/** What is public in a file of the services `a` and `b`, and the first message that there is. */
function publicRoutes(a: string, b: string): { routes: string[]; message: string | undefined } {
  const { serviceFile, errors, warnings } = parseServiceFile(
    `services:\n  a: { image: i${a && `, ${a}`} }\n  b: { image: i${b && `, ${b}`} }\n`,
  );
  return {
    routes: serviceFile?.publicRoutes.map(({ service, port, path }) => `${path} ${service}:${port}`) ?? [],
    message: [...errors, ...warnings][0]?.message,
  };
}

describe('without x-coppice.public', () => {
  test.each([
    ['the only service with ports is public, at its first one', '', 'ports: ["9:90", "8:80"]', ['/ b:90']],
    ['expose alone makes nothing public', 'expose: [1]', 'ports: ["2"]', ['/ b:2']],
    ['a service says that it is not meant', 'ports: ["1"], x-coppice: { public: [] }', 'ports: ["2"]', ['/ b:2']],
  ])('%s', (_, a, b, routes) => {
    expect(publicRoutes(a, b)).toEqual({ routes, message: undefined });
  });

  test('two services with ports: nothing is guessed', () => {
    expect(publicRoutes('ports: ["1"]', 'ports: ["2"]').message).toContain('several services have ports (a, b)');
  });

  test('no service with ports: a warning', () => {
    expect(publicRoutes('expose: [1]', '')).toEqual({
      routes: [],
      message: 'no service has ports: the environment will have no web address',
    });
  });
});

describe('with x-coppice.public', () => {
  test('only what is named is public, sorted by path', () => {
    const a = 'ports: ["1"], x-coppice: { public: [{ port: 1 }] }';
    const b = 'expose: [2], x-coppice: { public: [{ port: 2, path: /b/ }, { port: 2, path: /api/v1.0 }] }';
    expect(publicRoutes(a, b)).toEqual({ routes: ['/ a:1', '/api/v1.0 b:2', '/b b:2'], message: undefined });
  });

  test.each([
    ['a port that the service does not have', '{ port: 2 }', 'the service has no port 2'],
    ['a path that is taken', '{ port: 1 }, { port: 1, path: / }', 'the path "/" already leads to a'],
    ['no port', '{ path: /a }', 'has no port'],
    ['a relative path', '{ port: 1, path: a }', '"a" is no path'],
    ['a path with ..', '{ port: 1, path: /a/../b }', 'is no path'],
    ['a path with an empty step', '{ port: 1, path: /a//b }', 'is no path'],
    ['a path with a pattern', '{ port: 1, path: "/(.*)" }', 'is no path'],
    ['an alias', '{ port: 1, alias: x }', 'not supported yet'],
    ['an unknown key', '{ port: 1, host: x }', '"host" is not a key of a public route'],
  ])('%s is refused', (_, route, message) => {
    expect(publicRoutes(`ports: ["1"], x-coppice: { public: [${route}] }`, '').message).toContain(message);
  });

  test('an unknown key of x-coppice is refused', () => {
    expect(publicRoutes('x-coppice: { pubic: [] }', '').message).toContain('did you mean "public"?');
  });
});
