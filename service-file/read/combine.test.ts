import { describe, expect, test } from '@jest/globals';
import { readYaml } from '../testing/read-yaml.ts';
import type { Service } from '../schema.ts';

interface Read {
  services: Record<string, Service>;
  errors: string[];
  warnings: string[];
}

async function read(yaml: string, variables: Record<string, string> = {}): Promise<Read> {
  const { serviceFile, errors, warnings } = await readYaml(yaml, {}, variables);
  const reported = (problems: typeof errors): string[] =>
    problems.map(({ path, line, column, message }) => `${line}:${column} ${path} ${message}`);
  return {
    services: Object.fromEntries((serviceFile?.services ?? []).map((service) => [service.name, service])),
    errors: reported(errors),
    warnings: reported(warnings).filter((line) => !line.includes('no service has ports')),
  };
}

describe('a service that runs once', () => {
  test.each([
    ['restart: "no"', 'once'],
    ['restart: no', 'once'],
    ['deploy: { restart_policy: { condition: none } }', 'once'],
    ['deploy: { mode: replicated-job, replicas: 3 }', 'once'],
    ['restart: always', 'continuously'],
    ['restart: on-failure:3', 'continuously'],
    ['restart: unless-stopped', 'continuously'],
    ['restart: always, deploy: { restart_policy: { condition: none } }', 'continuously'],
    ['init: true', 'continuously'],
  ])('%s: %s', async (lines, runs) => {
    const { services, errors, warnings } = await read(`services: { a: { image: i, ${lines} } }`);
    expect([...errors, ...warnings]).toEqual([]);
    expect(services['a']).toMatchObject({ runs, replicas: 1 });
  });

  test('is one that another waits for, whatever its restart policy', async () => {
    const { services, errors, warnings } = await read(`services:
  web: { image: i, depends_on: { migrate: { condition: service_completed_successfully, required: true } } }
  migrate: { image: i, restart: always, expose: [1] }
`);
    expect(errors).toEqual([]);
    expect(warnings).toEqual([
      '3:24 services.migrate.restart ignored: another service waits for its completion, so it runs once',
    ]);
    expect(services['migrate']?.runs).toBe('once');
    expect(services['web']?.dependsOn).toEqual([{ service: 'migrate', condition: 'completed' }]);
  });

  test.each(['ports: ["1"]', 'expose: [1]', 'healthcheck: { test: a }'])(
    'does not run once but is restarted: %s',
    async (lines) => {
      const { services, warnings } = await read(`services: { a: { image: i, restart: "no", ${lines} } }`);
      expect(services['a']?.runs).toBe('continuously');
      expect(warnings).toEqual([expect.stringContaining('services.a.restart ignored: it has ports or a health check')]);
    },
  );
});

describe('dependencies', () => {
  test('wait only for the start if no health check is known, and warn', async () => {
    const { services, warnings } = await read(
      'services: { a: { image: i, depends_on: { b: { condition: service_healthy, restart: true } } }, b: { image: i } }',
    );
    expect(services['a']?.dependsOn).toEqual([{ service: 'b', condition: 'started' }]);
    expect(warnings).toEqual([
      expect.stringContaining('services.a.depends_on.b "b" has no healthcheck in this file'),
      expect.stringContaining('services.a.depends_on.b.restart ignored: a service is not restarted'),
    ]);
  });

  test('in both depends_on and links use the stricter condition', async () => {
    const { services } = await read(`services:
  a: { image: i, links: [b], depends_on: { b: { condition: service_healthy } } }
  b: { image: i, healthcheck: { test: x } }
`);
    expect(services['a']?.dependsOn).toEqual([{ service: 'b', condition: 'healthy' }]);
  });
});

describe('profiles', () => {
  const file = (dependsOn = '[]'): string => `services:
  web: { image: i, depends_on: ${dependsOn} }
  debug: { image: i, profiles: [debug, tools], privileged: true }
  admin: { image: i, profiles: [admin] }
`;

  test('omit services that are not enabled without reading them, with a warning', async () => {
    const { services, errors, warnings } = await read(file());
    expect(errors).toEqual([]);
    expect(Object.keys(services)).toEqual(['web']);
    expect(warnings.map((line) => line.slice(0, 45))).toEqual([
      '3:22 services.debug.profiles left out: the va',
      '4:22 services.admin.profiles left out: the va',
    ]);
  });

  test.each([
    ['admin', ['admin', 'web']],
    [' other , admin', ['admin', 'web']],
  ])('are enabled by COMPOSE_PROFILES %j', async (profiles, expected) => {
    expect(Object.keys((await read(file(), { COMPOSE_PROFILES: profiles })).services)).toEqual(expected);
  });

  test('are all enabled by *', async () => {
    const { errors } = await read(file(), { COMPOSE_PROFILES: '*' });
    expect(errors).toEqual([expect.stringContaining('services.debug.privileged refused')]);
  });

  test('must be enabled for a required dependency', async () => {
    expect((await read(file('[admin]'))).errors).toEqual([
      '2:33 services.web.depends_on[0] none of the profiles of "admin" is enabled: name one in COMPOSE_PROFILES',
    ]);
  });

  test('can be omitted for an optional dependency', async () => {
    const { services, errors } = await read(file('{ admin: { condition: service_started, required: false } }'));
    expect(errors).toEqual([]);
    expect(services['web']?.dependsOn).toEqual([]);
  });

  test('must leave one service', async () => {
    expect((await read('services: { a: { image: i, profiles: [x] } }')).errors).toEqual([
      '1:11 services none of the services has an enabled profile: name one in COMPOSE_PROFILES',
    ]);
  });
});

describe('names that cannot be host names', () => {
  test.each([
    ['my_app', 'my-app'],
    ['My.App', 'my-app'],
    ['Web', 'web'],
    ['db_', 'db'],
  ])('turn %s into %s, with a warning', async (name, expected) => {
    const { services, errors, warnings } = await read(
      `services: { ${name}: { image: i }, other: { image: i, depends_on: [${name}] } }`,
    );
    expect(errors).toEqual([]);
    expect(warnings).toEqual([expect.stringContaining(`other services reach it as "${expected}"`)]);
    expect(services['other']?.dependsOn).toEqual([{ service: expected, condition: 'started' }]);
    expect(services[expected]).toBeDefined();
  });

  test.each([
    ['environment: { URL: "postgres://u:p@my_db:5432/x" }', '2:40 services.web.environment.URL'],
    ['environment: [DB_HOST=my_db]', '2:34 services.web.environment[0]'],
    ['command: wait-for my_db', '2:29 services.web.command'],
  ])('are refused if %s uses them', async (lines, location) => {
    const { errors } = await read(`services:\n  web: { image: i, ${lines} }\n  my_db: { image: i }\n`);
    expect(errors).toEqual([
      expect.stringContaining(`${location} reaches the service "my_db" by a name that is not a valid host`),
    ]);
  });

  test.each(['environment: { A: my_dbs }', 'environment: { A: not.my_db }', 'environment: { WEB: web }'])(
    'are accepted if %s does not use them',
    async (lines) => {
      expect((await read(`services: { Web: { image: i, ${lines} }, my_db: { image: i } }`)).errors).toEqual([]);
    },
  );

  test('are refused if two become the same', async () => {
    expect((await read('services: { my-db: { image: i }, my_db: { image: i } }')).errors).toEqual([
      expect.stringContaining('"my_db" and "my-db" have the same host name "my-db"'),
    ]);
  });

  test('of volumes and networks stay different', async () => {
    const { services } = await read(`services:
  a: { image: i, volumes: [a_b:/1, a-b:/2, A.b:/3, "__:/4"], networks: [a_b, a-b] }
volumes: { a_b: , a-b: , A.b: , __: }
networks: { a_b: , a-b: }
`);
    const volumes = services['a']?.mounts.map((mount) => (mount.type === 'volume' ? mount.volume : ''));
    expect(new Set(volumes).size).toBe(4);
    expect(volumes?.every((name) => /^[a-z][a-z0-9-]{0,56}$/.test(name))).toBe(true);
    expect(new Set(services['a']?.networks).size).toBe(2);
  });
});
