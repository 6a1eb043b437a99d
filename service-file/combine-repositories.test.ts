import { describe, expect, test } from '@jest/globals';
import { asIncluded, combineRepositories, type RepositoryServices } from './combine-repositories.ts';
import { SERVICE_DEFAULTS, type Service, type ServiceFile } from './schema.ts';

const service = (name: string, more: Partial<Service> = {}): Service => ({
  ...SERVICE_DEFAULTS,
  name,
  image: 'app',
  ...more,
});
const file = (services: Service[], more: Partial<ServiceFile> = {}): ServiceFile => ({
  services,
  publicRoutes: [],
  volumes: [],
  bundles: [],
  ...more,
});
const of = (repository: string, services: Service[], more: Partial<ServiceFile> = {}): RepositoryServices => ({
  repository,
  serviceFile: file(services, more),
});
const mounting = (volume: string) => [{ type: 'volume' as const, volume, target: '/data', readOnly: false }];
const bundle = (name: string, bytes = 1) => ({
  name,
  secret: false,
  files: [{ key: 'a', path: 'a', mode: 0o644, stored: { object: name, key: 'a', bytes } }],
});

describe('combined repositories', () => {
  test('have the services of all, and everything else of the own one', () => {
    const own = of('shop', [service('web')], {
      publicRoutes: [{ service: 'web', port: 80, path: '/' }],
      bundles: [bundle('files-1')],
      from: 'seeded',
      repositories: [{ name: 'backend' }],
    });
    const included = of('backend', [service('api')], {
      publicRoutes: [{ service: 'api', port: 80, path: '/api' }],
      bundles: [bundle('files-1'), bundle('files-0')],
      from: 'other',
      reusable: 'mine',
      tests: [{ name: 'a', type: 'http', params: {} }],
    });
    const { serviceFile, problems } = combineRepositories(own, [included]);
    expect(problems).toEqual([]);
    expect(serviceFile).toEqual({
      services: [service('api'), service('web')],
      publicRoutes: [
        { service: 'web', port: 80, path: '/' },
        { service: 'api', port: 80, path: '/api' },
      ],
      volumes: [],
      bundles: [bundle('files-0'), bundle('files-1')],
      from: 'seeded',
      repositories: [{ name: 'backend' }],
    });
  });

  test('keep volumes of one name apart', () => {
    const db = service('db', { mounts: mounting('data'), runs: 'once per volume', seeds: 'data' });
    const { serviceFile } = asIncluded(of('backend', [db], { volumes: [{ name: 'data', size: '1Gi' }] }));
    expect(serviceFile.volumes).toEqual([{ name: 'backend-data', size: '1Gi' }]);
    expect(serviceFile.services[0]).toMatchObject({ mounts: mounting('backend-data'), seeds: 'backend-data' });
    const own = of('shop', [service('web', { mounts: mounting('data') })], { volumes: [{ name: 'data' }] });
    const combined = combineRepositories(own, [{ repository: 'backend', serviceFile }]);
    expect(combined.problems).toEqual([]);
    expect(combined.serviceFile.volumes.map(({ name }) => name)).toEqual(['backend-data', 'data']);
  });

  test('shorten long names of volumes, and keep them apart', () => {
    const volumes = ['a', 'b'].map((end) => ({ name: `${'x'.repeat(55)}${end}` }));
    const names = asIncluded(of('backend', [], { volumes })).serviceFile.volumes.map(({ name }) => name);
    expect(new Set(names).size).toBe(2);
    for (const name of names) expect(name).toMatch(/^backend-x+-[0-9a-f]{8}$/);
    for (const name of names) expect(name.length).toBeLessThanOrEqual(57);
  });

  test('give routes without an alias the one of the repository', () => {
    const publicRoutes = [
      { service: 'api', port: 80, path: '/' },
      { service: 'api', port: 81, path: '/', alias: 'admin' },
    ];
    const aliases = (alias?: string) =>
      asIncluded(of('backend', [], { publicRoutes }), alias).serviceFile.publicRoutes.map((route) => route.alias);
    expect(aliases()).toEqual([undefined, 'admin']);
    expect(aliases('api')).toEqual(['api', 'admin']);
  });

  const route = { port: 80, path: '/' };
  test.each<[string, RepositoryServices, RepositoryServices, string]>([
    [
      'two services of one name',
      of('shop', [service('web')]),
      of('backend', [service('web')]),
      'the host name web is taken twice, by the service web of shop and by the service web of backend: rename one',
    ],
    [
      'an alias that is a service',
      of('shop', [service('web', { aliases: ['api'] })]),
      of('backend', [service('api')]),
      'the host name api is taken twice, by an alias of the service web of shop and by the service api of backend: rename one',
    ],
    [
      'a volume that has the name of another one',
      of('shop', [], { volumes: [{ name: 'backend-data' }] }),
      asIncluded(of('backend', [], { volumes: [{ name: 'data' }] })),
      'the volume name backend-data is taken twice, by a volume of shop and by a volume of backend: rename one',
    ],
    [
      'two services at one address',
      of('shop', [], { publicRoutes: [{ ...route, service: 'web' }] }),
      of('backend', [], { publicRoutes: [{ ...route, service: 'api' }] }),
      'the public address / is taken twice, by the service web of shop and by the service api of backend: give',
    ],
    [
      'two services at one address of an alias',
      of('shop', [], { publicRoutes: [{ ...route, alias: 'admin', service: 'web' }] }),
      of('backend', [], { publicRoutes: [{ ...route, alias: 'admin', service: 'api' }] }),
      'the public address admin / is taken twice',
    ],
  ])('refuse %s', (_what, own, included, message) => {
    expect(combineRepositories(own, [included]).problems).toEqual([expect.stringContaining(message)]);
  });

  const many = <T>(count: number, one: (index: number) => T) => Array.from({ length: count }, (_, index) => one(index));
  test.each<[string, Service[], Partial<ServiceFile>]>([
    ['102 services and jobs', many(51, (n) => service(`s${n}`)), {}],
    ['52 volumes', [], { volumes: many(26, (n) => ({ name: `v${n}` })) }],
    ['52 aliases and links', [service('x', { aliases: many(26, (n) => `a${n}`) })], {}],
    ['22 networks', [service('x', { networks: many(11, (n) => `n${n}`) })], {}],
    ['22 public routes', [], { publicRoutes: many(11, (n) => ({ service: 'x', port: 80, path: `/p${n}` })) }],
    ['1000 KiB of mounted files', [], { bundles: [bundle('f0', 500 * 1024)] }],
    ['KiB of services', [service('x', { environment: { TEXT: 'x'.repeat(140 * 1024) } })], {}],
  ])('refuse %s together, of two repositories that are within the limits', (what, services, more) => {
    const renamed = (prefix: string) => {
      const text = JSON.stringify(file(services, more)).replaceAll(
        /"(s\d+|v\d+|a\d+|n\d+|\/p\d+|x|f\d+)"/g,
        (_all, name: string) => (name.startsWith('/') ? `"/${prefix}${name.slice(1)}"` : `"${prefix}${name}"`),
      );
      return JSON.parse(text) as ServiceFile;
    };
    const all = ['one', 'two'].map((repository) => ({ repository, serviceFile: renamed(repository) }));
    const [own, included] = all;
    if (!own || !included) throw new Error('two repositories');
    expect(combineRepositories(own, [included]).problems).toEqual([expect.stringContaining(what)]);
    expect(combineRepositories(own, []).problems).toEqual([]);
  });
});
