import { describe, expect, test } from '@jest/globals';
import { readYaml } from '../testing/read-yaml.ts';
import { BUILD_DEFAULTS, serviceFileSchema, type Service } from '../schema.ts';

/** Returns the only service of a file, `web`; `image: app` is added to YAML without `build` and `image`. */
async function service(yaml: string): Promise<Service> {
  const origin = /^(build|image):/m.test(yaml) ? '' : 'image: app\n';
  const indented = (origin + yaml).replaceAll(/^/gm, '    ');
  const { serviceFile, errors } = await readYaml(`services:\n  web:\n${indented}\n`);
  expect(errors).toEqual([]);
  return serviceFile!.services[0]!;
}

/** Returns errors as `line:column path message`. */
async function errorsOf(yaml: string): Promise<string[]> {
  const { serviceFile, errors } = await readYaml(yaml);
  expect(serviceFile === undefined).toBe(errors.length > 0);
  return errors.map(({ path, line, column, message }) => `${line}:${column} ${path} ${message}`);
}

const web = (yaml: string): string => `services:\n  web:\n    image: app\n    ${yaml}\n`;

describe('a whole file', () => {
  const text = `
name: shop
services:
  web:
    build: ./web/
    container_name: shop-web
    restart: unless-stopped
    ports: ["8080:80"]
    depends_on:
      api: { condition: service_healthy }
  api:
    build: { context: api, dockerfile: ../docker/api.Dockerfile, target: run, args: { VERSION: "1.10" } }
    command: node server.js --name 'the api'
    environment: [PORT=3000, "MOTTO=a=b"]
    expose: [3000]
    healthcheck: { test: curl -f localhost:3000, interval: 1m30s, retries: 5 }
`;

  test('is read with every default filled in', async () => {
    const { serviceFile, warnings, errors } = await readYaml(text);
    expect(errors).toEqual([]);
    expect(serviceFile).toMatchObject({
      services: [
        {
          name: 'api',
          build: {
            context: 'api',
            dockerfile: '../docker/api.Dockerfile',
            target: 'run',
            args: { VERSION: '1.10' },
          },
          command: ['node', 'server.js', '--name', 'the api'],
          environment: { MOTTO: 'a=b', PORT: '3000' },
          ports: [3000],
          dependsOn: [],
          healthcheck: {
            command: ['/bin/sh', '-c', 'curl -f localhost:3000'],
            intervalSeconds: 90,
            timeoutSeconds: 30,
            retries: 5,
            startPeriodSeconds: 0,
          },
        },
        {
          name: 'web',
          build: { ...BUILD_DEFAULTS, context: 'web', dockerfile: 'Dockerfile', args: {} },
          environment: {},
          ports: [80],
          dependsOn: [{ service: 'api', condition: 'healthy' }],
        },
      ],
      publicRoutes: [{ service: 'web', port: 80, path: '/' }],
    });
    expect(warnings.map(({ line, path }) => `${line} ${path}`)).toEqual(['2 name', '6 services.web.container_name']);
  });

  test('is the same after a round trip through JSON and the schema', async () => {
    const { serviceFile } = await readYaml(text);
    expect(serviceFileSchema.parse(JSON.parse(JSON.stringify(serviceFile)))).toEqual(serviceFile);
  });

  test('reads parts from anchors and merge keys, with precedence of its own keys', async () => {
    const { serviceFile, errors, warnings } = await readYaml(`
x-base: &base { image: base, environment: { A: "1" }, restart: always }
services:
  a: { <<: *base, environment: &env { A: "2" } }
  b:
    <<: [{ image: first }, *base]
    environment: *env
`);
    expect(errors).toEqual([]);
    expect(serviceFile?.services).toMatchObject([
      { name: 'a', image: 'base', environment: { A: '2' } },
      { name: 'b', image: 'first', environment: { A: '2' } },
    ]);
    expect(warnings.map(({ path }) => path)).toEqual(['x-base', 'services']);
  });
});

describe('values', () => {
  test.each<[string, Partial<Service>]>([
    ['image: redis:7', { image: 'redis:7' }],
    [
      'image: kind-registry:5000/a/b_c/d@sha256:' + 'a'.repeat(64),
      { image: 'kind-registry:5000/a/b_c/d@sha256:' + 'a'.repeat(64) },
    ],
    ['build: .', { build: { ...BUILD_DEFAULTS } }],
    ['build: ./a/../b/', { build: { ...BUILD_DEFAULTS, context: 'b', dockerfile: 'Dockerfile', args: {} } }],
    ['build: { target: dev }', { build: { ...BUILD_DEFAULTS, target: 'dev' } }],
    [
      'build: { context: a, dockerfile: ./b/D }',
      { build: { ...BUILD_DEFAULTS, context: 'a', dockerfile: 'b/D', args: {} } },
    ],
    [
      'build: { args: [A=1, B=] }',
      { build: { ...BUILD_DEFAULTS, context: '.', dockerfile: 'Dockerfile', args: { A: '1', B: '' } } },
    ],
    ['command: [sleep, 10]', { command: ['sleep', '10'] }],
    ['command: echo $$HOME "$$"', { command: ['echo', '$HOME', '$'] }],
    ['entrypoint: /run.sh', { entrypoint: ['/run.sh'] }],
    ['command:', {}],
    [
      'environment: { A: 1, B: true, C: "x y", D: "", E: yes, F: 1.5 }',
      { environment: { A: '1', B: 'true', C: 'x y', D: '', E: 'yes', F: '1.5' } },
    ],
    ['environment: { A: TRUE, B: False }', { environment: { A: 'true', B: 'false' } }],
    ['environment: { A: $$5, B: a$, C: $5 }', { environment: { A: '$5', B: 'a$', C: '$5' } }],
    [
      'environment: { constructor: a, toString: b, hasOwnProperty: c }',
      { environment: { constructor: 'a', toString: 'b', hasOwnProperty: 'c' } },
    ],
    [
      'ports: ["80", 81, "8080:82", "127.0.0.1:80:83/tcp", "127.0.0.1::84", "[::1]:1:85"]',
      { ports: [80, 81, 82, 83, 84, 85] },
    ],
    ['ports: [{ target: 80, published: "8080", protocol: tcp, host_ip: 127.0.0.1 }]', { ports: [80] }],
    ['ports: ["80-82", "8000-8010:90", "53:53/udp", "1:53"]', { ports: [53, 80, 81, 82, 90], udpPorts: [53] }],
    ['ports: [{ target: 53, protocol: UDP, mode: host, published: "1-9" }]', { ports: [], udpPorts: [53] }],
    ['ports: ["8080:80", "9090:80"]\nexpose: ["80", 3000, 9/tcp]', { ports: [9, 80, 3000] }],
    [
      'healthcheck: { test: [CMD, a, b c] }',
      {
        healthcheck: {
          command: ['a', 'b c'],
          intervalSeconds: 30,
          timeoutSeconds: 30,
          retries: 3,
          startPeriodSeconds: 0,
        },
      },
    ],
    [
      'healthcheck: { test: [CMD-SHELL, a && b], start_period: 0s }',
      {
        healthcheck: {
          command: ['/bin/sh', '-c', 'a && b'],
          intervalSeconds: 30,
          timeoutSeconds: 30,
          retries: 3,
          startPeriodSeconds: 0,
        },
      },
    ],
    [
      'healthcheck: { test: a, interval: 0s, timeout: 0s, retries: 0, start_interval: 1s }',
      {
        healthcheck: {
          command: ['/bin/sh', '-c', 'a'],
          intervalSeconds: 30,
          timeoutSeconds: 30,
          retries: 3,
          startPeriodSeconds: 0,
        },
      },
    ],
    ['healthcheck: { interval: 5s }', {}],
    ['healthcheck: { test: [NONE] }', {}],
    ['healthcheck: { disable: true }', {}],
    ['healthcheck: { test: a, disable: "true" }', {}],
    ['depends_on: []', { dependsOn: [] }],
  ])('%s', async (yaml, expected) => {
    const { name, image, build, environment, ports, dependsOn, ...rest } = await service(yaml);
    const read = { name, image, build, environment, ports, dependsOn, ...rest };
    for (const key of ['command', 'entrypoint', 'healthcheck'] as const) expect(read[key]).toEqual(expected[key]);
    expect(read).toMatchObject(expected);
  });

  test('round up a part of a second with a warning', async () => {
    const { serviceFile, warnings } = await readYaml(web('healthcheck: { test: a, interval: 500ms }'));
    expect(serviceFile?.services[0]?.healthcheck?.intervalSeconds).toBe(1);
    expect(warnings.map(({ message }) => message)).toContain('"500ms" is rounded up to 1s');
  });
});

describe('errors', () => {
  test.each<[string, string]>([
    ['', '1:1  the file is empty'],
    ['{}', '1:1  has no services'],
    ['services: {}', '1:11 services is empty'],
    ['services: [a]', '1:11 services must be a map of services, this is a list'],
    ['services:\n  web:\n', '2:7 services.web a service must be a map of keys, this is empty'],
    ['services:\n  web:\n    ports: ["80"]\n', '2:3 services.web has neither build nor image'],
    ['volumes: []\nservices: { a: { image: a } }', '1:10 volumes must be a map, this is a list'],
    ['service:\n  a: { image: a }', '1:1 service "service" is not a key of a service file: did you mean "services"?'],
    ['x-coppice: { from: A_b }\nservices: { a: { image: a } }', '1:20 x-coppice.from "A_b" is not a label'],
    [
      'x-coppice: { tests: [a] }\nservices: { a: { image: a } }',
      '1:22 x-coppice.tests[0] a test must be a map of keys',
    ],
    [
      'x-copice: {}\nservices: { a: { image: a } }',
      '1:1 x-copice "x-copice" is not a key of a service file: did you mean "x-coppice"?',
    ],
    [web('volumes: [a:/b]'), '4:15 services.web.volumes[0] the volume "a" is not declared'],
    [
      web('enviroment: {}'),
      '4:5 services.web.enviroment "enviroment" is not a key of a service: did you mean "environment"?',
    ],
    [web('zzz: {}'), '4:5 services.web.zzz "zzz" is not a key of a service: remove it'],
    [web('__proto__: {}'), '4:5 services.web.__proto__ "__proto__" is not a key of a service'],
    [web('restart: maybe'), '4:14 services.web.restart "maybe" is not a restart policy'],
    [web('command: a | b'), '4:14 services.web.command an unquoted | needs a shell'],
    [web('command: "a \'b"'), "4:14 services.web.command the quote ' is not closed"],
    [web('command: []'), "4:14 services.web.command to remove only the image's command"],
    [web('command: [a, [b]]'), '4:18 services.web.command[1] must be text, this is a list'],
    [web('command: "a\\0b"'), '4:14 services.web.command contains a NUL character'],
    [web('environment: { A: 1.10 }'), '4:23 services.web.environment.A is read as a number and would change'],
    [web('environment: [A=1, A=2]'), '4:24 services.web.environment[1] the variable "A" is set twice'],
    [web('environment: ["A =1"]'), '4:19 services.web.environment[0] is not a name for a variable'],
    [web('environment: { __proto__: a }'), '4:20 services.web.environment.__proto__ is not a name for a variable'],
    [web('environment: { a b: c }'), '4:20 services.web.environment["a b"] is not a name for a variable'],
    [web('environment: text'), '4:18 services.web.environment must be a map or a list of NAME=value, this is text'],
    [web('ports: ["90-80"]'), '4:13 services.web.ports[0] "90-80" is not a port'],
    [web('ports: ["1-65535"]'), '4:12 services.web.ports more than 100 ports'],
    [web('ports: ["53/sctp"]'), '4:13 services.web.ports[0] the protocol "sctp" is not supported'],
    [web('ports: ["70000"]'), '4:13 services.web.ports[0] "70000" is not a port'],
    [web('ports: ["0:80"]'), '4:13 services.web.ports[0] "0" is not a port'],
    [web('ports: ["80:http"]'), '4:13 services.web.ports[0] "80:http" is not a port'],
    [web('ports: "80"'), '4:12 services.web.ports must be a list, this is text'],
    [web('ports: [{ published: 80 }]'), '4:13 services.web.ports[0] has no target'],
    [web('ports: [{ target: 53, protocol: icmp }]'), '4:37 services.web.ports[0].protocol the protocol "icmp"'],
    [web('ports: [{ target: 53, published: a }]'), '4:38 services.web.ports[0].published "a" is not a port'],
    [web('expose: ["80:80"]'), '4:14 services.web.expose[0] "80:80" is not a port'],
    [web('depends_on: [db]'), '4:18 services.web.depends_on[0] there is no service "db"'],
    [web('depends_on: [wep]'), '4:18 services.web.depends_on[0] there is no service "wep": did you mean "web"?'],
    [web('depends_on: [web]'), '4:18 services.web.depends_on[0] the services wait for each other (web → web'],
    [web('depends_on: { web: {} }'), '4:19 services.web.depends_on.web has no condition'],
    [
      web('depends_on: { a: { condition: ready } }'),
      '4:35 services.web.depends_on.a.condition "ready" is not a condition',
    ],
    [web('healthcheck: { test: [curl, a] }'), '4:26 services.web.healthcheck.test must be a line for the shell'],
    [web('healthcheck: { test: a, interval: 10 }'), '4:39 services.web.healthcheck.interval "10" is not a duration'],
    [web('healthcheck: { test: a, timeout: 25h }'), '4:38 services.web.healthcheck.timeout must be from 0s to 24h'],
    [
      web('healthcheck: { test: a, retries: -1 }'),
      '4:38 services.web.healthcheck.retries must be a whole number from 0',
    ],
    [web('image: other'), '4:5 services.web.image the key is repeated, first on line 3'],
    [web('? [a]\n    : b'), '4:7 services.web a key must be text'],
    [web('1: b'), '4:5 services.web a key must be text'],
    ['services: { web: { image: a/B } }', '1:27 services.web.image "a/B" is not an image'],
    ['services: { web: { image: "a b" } }', '1:27 services.web.image "a b" is not an image'],
    ['services: { web: { image: "" } }', '1:27 services.web.image is empty'],
    ['services: { web: { build: /etc } }', '1:27 services.web.build the path "/etc" is absolute'],
    ['services: { web: { build: ~/a } }', '1:27 services.web.build the path "~/a" is absolute'],
    ['services: { web: { build: a/../.. } }', '1:27 services.web.build the path "a/../.." leads out of the repository'],
    ['services: { web: { build: "a\\\\b" } }', '1:27 services.web.build the path "a\\\\b" has a backslash'],
    ['services: { web: { build: https://a.example/b.git } }', '1:27 services.web.build a context from a URL'],
    ['services: { web: { build: "git@a.example:b.git" } }', '1:27 services.web.build a context from a URL'],
    [
      'services: { web: { build: { context: a, dockerfile: ../../D } } }',
      '1:53 services.web.build.dockerfile the path "../../D" leads out',
    ],
    ['services: { web: { build: { dockerfile: . } } }', '1:41 services.web.build.dockerfile is a folder'],
    [
      'services: { web: { build: { target: -x } } }',
      `1:37 services.web.build.target "-x" is not a name of a Dockerfile's stage`,
    ],
  ])('%j', async (yaml, expected) => {
    const [first = ''] = await errorsOf(yaml);
    expect(first.slice(0, expected.length)).toBe(expected);
  });

  test('are all reported at once, in the order of the file', async () => {
    expect(await errorsOf('services:\n  b: { image: a, gpus: all }\n  a: { image: A, depends_on: [c] }\n')).toEqual([
      '2:18 services.b.gpus refused: GPUs are not supported: remove it',
      expect.stringContaining('3:15 services.a.image'),
      expect.stringContaining('3:31 services.a.depends_on[0]'),
    ]);
  });

  test('never repeat a value that may be secret', async () => {
    const { errors } = await readYaml(web('environment: { A: hunter$two, B: 0123, C: "${D:-hunter2}", 1x: hunter2 }'));
    expect(errors).toHaveLength(2);
    expect(JSON.stringify(errors)).not.toMatch(/hunter|two|0123/);
  });

  test.each([
    ['1web', 'such as "web"'],
    ['a b', 'such as "a-b"'],
    ['a'.repeat(64), `such as "${'a'.repeat(57)}"`],
    ['-', 'at most 57'],
    ['__proto__', 'such as "proto"'],
  ])('refuse the service name %j, which cannot be a host name', async (name, hint) => {
    expect((await errorsOf(`services:\n  ${JSON.stringify(name)}: { image: a }\n`))[0]).toContain(hint);
  });

  test('report a cycle once, at the dependency that closes it', async () => {
    const yaml = `services:
  a: { image: i, depends_on: [b] }
  b: { image: i, depends_on: [c, d] }
  c: { image: i, depends_on: [a] }
  d: { image: i }
`;
    expect(await errorsOf(yaml)).toEqual([
      '4:31 services.c.depends_on[0] the services wait for each other (a → b → c → a): remove one dependency',
    ]);
  });

  test.each([
    ['depends_on: [db, db]', 'is listed twice'],
    ['depends_on: { db: { condition: service_started, required: maybe } }', 'must be true or false'],
  ])('%s', async (yaml, message) => {
    expect((await errorsOf(`${web(yaml)}  db: { image: redis }\n`)).join('\n')).toContain(message);
  });
});

test('treats a service called constructor like any other', async () => {
  const { serviceFile } = await readYaml('services: { constructor: { image: a, depends_on: [b] }, b: { image: b } }');
  expect(serviceFile?.services.map(({ name }) => name)).toEqual(['b', 'constructor']);
});

test('ignores an image beside build with a warning', async () => {
  const { serviceFile, warnings } = await readYaml('services: { a: { build: ., image: mine, ports: ["1"] } }');
  expect(serviceFile?.services[0]).not.toHaveProperty('image');
  expect(warnings.map(({ path }) => path)).toEqual(['services.a.image']);
});
