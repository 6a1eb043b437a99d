import { describe, expect, test } from '@jest/globals';
import { readYaml } from '../testing/read-yaml.ts';

/** Returns the public routes of a file with the services `a` and `b`, and its first message. */
async function publicRoutes(a: string, b: string): Promise<{ routes: string[]; message: string | undefined }> {
  const { serviceFile, errors, warnings } = await readYaml(
    `services:\n  a: { image: i${a && `, ${a}`} }\n  b: { image: i${b && `, ${b}`} }\n`,
  );
  return {
    routes:
      serviceFile?.publicRoutes.map(({ service, port, path, alias = '' }) => `${alias}${path} ${service}:${port}`) ??
      [],
    message: [...errors, ...warnings][0]?.message,
  };
}

describe('without x-coppice.public', () => {
  test.each([
    ['the only service with ports is public, at its first one', '', 'ports: ["9:90", "8:80"]', ['/ b:90']],
    ['only expose makes nothing public', 'expose: [1]', 'ports: ["2"]', ['/ b:2']],
    ['UDP makes nothing public', 'ports: ["1/udp"]', 'ports: ["2"]', ['/ b:2']],
    ['a service says that it is not meant', 'ports: ["1"], x-coppice: { public: [] }', 'ports: ["2"]', ['/ b:2']],
  ])('%s', async (_, a, b, routes) => {
    expect(await publicRoutes(a, b)).toEqual({ routes, message: undefined });
  });

  test('publishes nothing if two services have ports', async () => {
    const { routes, message } = await publicRoutes('ports: ["1"]', 'ports: ["2"]');
    expect(routes).toEqual([]);
    expect(message).toContain('several services have ports (a, b), so none of them is public');
  });

  test('warns if no service has ports', async () => {
    expect(await publicRoutes('expose: [1]', '')).toEqual({
      routes: [],
      message: 'no service has ports: the environment will have no web address',
    });
  });
});

describe('with x-coppice.public', () => {
  test('publishes only what is named, sorted by path', async () => {
    const a = 'ports: ["1"], x-coppice: { public: [{ port: 1 }] }';
    const b = 'expose: [2], x-coppice: { public: [{ port: 2, path: /b/ }, { port: 2, path: /api/v1.0 }] }';
    expect(await publicRoutes(a, b)).toEqual({ routes: ['/ a:1', '/api/v1.0 b:2', '/b b:2'], message: undefined });
  });

  test('gives an alias paths of its own', async () => {
    const a = 'ports: ["1", "2"], x-coppice: { public: [{ port: 1 }, { port: 2, alias: admin }] }';
    expect(await publicRoutes(a, '')).toEqual({ routes: ['/ a:1', 'admin/ a:2'], message: undefined });
  });

  test('refuses a service that runs once', async () => {
    const a = 'ports: ["1"], x-coppice: { public: [{ port: 1 }] }';
    const b = 'depends_on: { a: { condition: service_completed_successfully } }';
    expect((await publicRoutes(a, b)).message).toContain('the service runs once and ends');
  });

  test.each([
    ['a port that the service does not have', '{ port: 2 }', 'the service has no port 2'],
    ['a path that is taken', '{ port: 1 }, { port: 1, path: / }', 'the path "/" already leads to a'],
    ['no port', '{ path: /a }', 'has no port'],
    ['a relative path', '{ port: 1, path: a }', '"a" is not a path'],
    ['a path with ..', '{ port: 1, path: /a/../b }', 'is not a path'],
    ['a path with an empty step', '{ port: 1, path: /a//b }', 'is not a path'],
    ['a path with a pattern', '{ port: 1, path: "/(.*)" }', 'is not a path'],
    ['an alias that is not a label', '{ port: 1, alias: X.y }', '"X.y" is not an alias'],
    ['an alias and path that are taken', '{ port: 1, alias: x }, { port: 1, alias: x, path: / }', 'already leads to a'],
    ['an unknown key', '{ port: 1, host: x }', '"host" is not a key of a public route'],
  ])('refuses %s', async (_, route, message) => {
    expect((await publicRoutes(`ports: ["1"], x-coppice: { public: [${route}] }`, '')).message).toContain(message);
  });

  test('refuses an unknown key of x-coppice', async () => {
    expect((await publicRoutes('x-coppice: { pubic: [] }', '')).message).toContain('did you mean "public"?');
  });
});
