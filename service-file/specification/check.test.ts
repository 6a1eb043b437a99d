import { describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { Problems } from '../problems.ts';
import { parseYaml } from '../yaml/yaml-tree.ts';
import { ALL_KEY_TABLES } from '../read/keys/all-tables.ts';
import { checkSpecification } from './check.ts';
import { serviceFile } from './service-file.ts';

function check(yaml: string): string[] {
  const problems = new Problems();
  const tree = parseYaml(yaml, { file: 'compose.yaml', folder: '' }, problems)!;
  checkSpecification(tree, problems);
  return problems.errors.map(({ line, column, path, message }) => `${line}:${column} ${path} ${message}`);
}

const web = (yaml: string) => `services:\n  web: { ${yaml} }\n`;

describe('accepts every form of the specification', () => {
  test.each([
    ['build: .'],
    ['build: { context: ., args: [A=1], ssh: [default], ulimits: { nofile: { soft: 1, hard: 2 } }, no_cache: "true" }'],
    ['build: { args: { A: 1, B: , C: true }, secrets: [a, { source: b, mode: 0440 }], extra_hosts: { a: [1.1.1.1] } }'],
    ['command: , entrypoint: [a, 1], environment: { A: , B: true, C: 1.5 }'],
    ['depends_on: [a], networks: { a: , b: { aliases: [c], priority: 1000 } }'],
    ['depends_on: { a: { condition: service_healthy, restart: true, required: "no" } }'],
    [
      'deploy: { replicas: "2", resources: { limits: { cpus: "0.5", memory: 50M, pids: 1 }, reservations: { devices: [{ capabilities: [gpu] }] } } }',
    ],
    ['develop: { watch: [{ action: sync, path: ., target: /app, ignore: [a] }] }'],
    ['env_file: a.env, ports: [80, "80:80", { target: 80, published: "8080" }]'],
    ['env_file: [a.env, { path: b.env, required: false, format: raw }], gpus: all'],
    ['healthcheck: { test: [CMD, a], interval: 1s, retries: 3, disable: false }'],
    ['volumes: [a:/a, { type: bind, source: ., target: /b, bind: { selinux: z } }], tmpfs: /tmp'],
    ['ulimits: { nproc: 65535 }, sysctls: { net.core.somaxconn: 1024 }, x-mine: { a: [b] }'],
    ['blkio_config: { weight: 300, device_read_bps: [{ path: /dev/sda, rate: 12mb }] }, cpus: 0.5, mem_limit: 1g'],
    ['x-coppice: { public: [{ port: 80, path: /api }], jobs: [{ name: a, command: b }], watch: [a/**] }'],
  ])('%s', (yaml) => {
    expect(check(web(yaml))).toEqual([]);
  });

  test('accepts resources', () => {
    expect(
      check(`
name: a
version: "3"
services: {}
networks: { a: , b: { driver: bridge, ipam: { config: [{ subnet: 10.0.0.0/8 }] }, external: true } }
volumes: { a: , b: { external: { name: c }, driver_opts: { type: nfs }, x-coppice: { size: 1Gi } } }
secrets: { a: { file: ./a }, b: { environment: B } }
configs: { a: { content: text }, b: { file: b } }
models: { m: { model: ai/m, context_size: 1 } }
x-mine: 1
`),
    ).toEqual([]);
  });
});

describe('refuses', () => {
  test.each([
    ['image: [a]', '2:17 services.web.image must be text, this is a list'],
    ['ports: 80', '2:17 services.web.ports must be a list, this is "80"'],
    ['build: [a]', '2:17 services.web.build must be text or a map, this is a list'],
    ['build: { args: a }', '2:25 services.web.build.args must be a map or a list, this is the text "a"'],
    ['build: { arg: a }', '2:19 services.web.build.arg "arg" is not a key of build: remove it'],
    ['logging: { drivr: a }', '2:21 services.web.logging.drivr "drivr" is not a key of logging: remove it'],
    ['environment: { A: [b] }', '2:28 services.web.environment.A must be text, this is a list'],
    [
      'depends_on: { a: { condition: ready } }',
      '2:40 services.web.depends_on.a.condition must be one of service_started, service_healthy, service_completed_successfully, this is the text "ready"',
    ],
    ['init: maybe', '2:16 services.web.init must be true or false, this is the text "maybe"'],
    ['deploy: { replicas: many }', '2:30 services.web.deploy.replicas must be a whole number, this is the text "many"'],
    [
      'volumes: [{ type: other }]',
      'must be one of bind, volume, tmpfs, cluster, npipe, image, this is the text "other"',
    ],
    ['volumes: [{ bind: { a: 1 } }]', 'services.web.volumes[0].bind.a "a" is not a key of bind: remove it'],
    ['networks: { "a b": }', '2:22 services.web.networks["a b"] "a b" is not a name'],
    ['develop: { watch: [{ acton: sync }] }', '"acton" is not a key of a watched path'],
    ['healthcheck: a', 'services.web.healthcheck must be a map, this is the text "a"'],
    ['x-coppice: { public: [{ prt: 80 }] }', 'services.web.x-coppice.public[0] has no port: add it'],
    ['x-coppice: { pubic: [] }', 'services.web.x-coppice.pubic "pubic" is not a key of x-coppice'],
    ['zzz: 1', '2:10 services.web.zzz "zzz" is not a key of a service: remove it'],
  ])('%s', (yaml, expected) => {
    expect(check(web(yaml)).join('\n')).toContain(expected);
  });

  test.each([
    ['services: [a]', '1:11 services must be a map, this is a list'],
    ['services: { a: text }', '1:16 services.a must be a map, this is the text "text"'],
    ['service: {}', '1:1 service "service" is not a key of a service file: remove it'],
    ['volumes: { a: { sizee: 1 } }', '"sizee" is not a key of a volume'],
    ['networks: { a: { ipam: { config: {} } } }', 'must be a list, this is a map'],
  ])('%s', (yaml, expected) => {
    expect(check(yaml).join('\n')).toContain(expected);
  });
});

describe('has every key of the specification in a table, and no other key', () => {
  /** Returns the keys of the maps at a path such as `services.*.build` or `services.*.ports[]`. */
  function keysAt(path: string): string[] {
    const steps = path === '' ? [] : path.replaceAll('[]', '.[]').split('.');
    let found: z.core.$ZodType[] = [serviceFile];
    for (const step of steps) found = found.flatMap((schema) => stepsInto(schema, step));
    return found.flatMap(objectsIn).flatMap(({ shape }) => Object.keys(shape));
  }

  /** Returns the members of a union, without optional wrappers. */
  function kindsOf(schema: z.core.$ZodType): z.core.$ZodType[] {
    if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable) return kindsOf(schema.unwrap());
    return schema instanceof z.ZodUnion ? schema.options.flatMap(kindsOf) : [schema];
  }

  function stepsInto(schema: z.core.$ZodType, step: string): z.core.$ZodType[] {
    return kindsOf(schema).flatMap((kind) => {
      if (kind instanceof z.ZodRecord) return step === '*' ? [kind.valueType] : [];
      if (kind instanceof z.ZodArray) return step === '[]' ? [kind.element] : [];
      const value = kind instanceof z.ZodObject ? (kind.shape[step] as z.core.$ZodType | undefined) : undefined;
      return value === undefined ? [] : [value];
    });
  }

  const objectsIn = (schema: z.core.$ZodType) => kindsOf(schema).filter((kind) => kind instanceof z.ZodObject);

  /** These are read while files are loaded, and are absent when the schema is applied. */
  const loaded = new Set(['include[]', 'services.*.extends']);
  /** The keys that are read elsewhere. */
  const elsewhere = new Set(['include', 'extends']);

  test.each(
    ALL_KEY_TABLES.filter(({ path }) => !loaded.has(path)).flatMap(({ path, keys }) =>
      path.split(', ').map((one) => [one, [...keys.keys()]] as const),
    ),
  )('%j', (path, keys) => {
    expect(new Set(keys.filter((key) => !elsewhere.has(key)))).toEqual(new Set(keysAt(path)));
  });
});
