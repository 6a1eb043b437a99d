import { expect, test } from '@jest/globals';
import { Problems } from '../problems.ts';
import { plainData } from '../yaml/plain-data.ts';
import type { YamlNode } from '../yaml/yaml-node.ts';
import { parseYaml } from '../yaml/yaml-tree.ts';
import { merge, withoutTags } from './merge.ts';

/** Returns plain data, with numbers and booleans as text. */
function textData(tree: YamlNode): unknown {
  const asText = (_: string, value: unknown) =>
    typeof value === 'number' || typeof value === 'boolean' ? String(value) : value;
  return JSON.parse(JSON.stringify(plainData(tree), asText));
}

function mergeTexts(...texts: string[]): { merged: unknown; errors: string[] } {
  const problems = new Problems();
  let merged: YamlNode | undefined;
  for (const [index, text] of texts.entries()) {
    const tree = parseYaml(text, { file: `${index}.yaml`, folder: '' }, problems)!;
    merged = withoutTags(merged === undefined ? tree : merge(merged, tree, [], problems));
  }
  return {
    merged: textData(merged!),
    errors: problems.errors.map(({ file, line, message }) => `${file}:${line} ${message}`),
  };
}

const service = (yaml: string) => `services:\n  web: { ${yaml} }`;

/** Returns the service that two files define, merged. */
function mergeServices(base: string, over: string): unknown {
  const { merged, errors } = mergeTexts(service(base), service(over));
  expect(errors).toEqual([]);
  return (merged as { services: { web: unknown } }).services.web;
}

test.each<[string, string, string, unknown]>([
  ['a map: missing keys are added, existing ones replaced', 'a: 1, b: 1', 'b: 2, c: 2', { a: '1', b: '2', c: '2' }],
  ['a list is appended', 'security_opt: [a]', 'security_opt: [b]', { security_opt: ['a', 'b'] }],
  [
    'maps are merged at every depth',
    'deploy: { resources: { limits: { cpus: 1, memory: 1g } } }',
    'deploy: { resources: { limits: { cpus: 2 } } }',
    { deploy: { resources: { limits: { cpus: '2', memory: '1g' } } } },
  ],
  ['a command is replaced', 'command: [echo, foo]', 'command: [echo, bar]', { command: ['echo', 'bar'] }],
  ['an entrypoint is replaced', 'entrypoint: [a, b]', 'entrypoint: c', { entrypoint: 'c' }],
  ['a null command undoes one', 'command: a', 'command: null', { command: null }],
  [
    'the test of a health check is replaced, the rest stays',
    'healthcheck: { test: [CMD, a], retries: 3 }',
    'healthcheck: { test: [CMD, b] }',
    { healthcheck: { test: ['CMD', 'b'], retries: '3' } },
  ],
  [
    'volumes by their target',
    'volumes: [foo:/work, "b:/b"]',
    'volumes: [bar:/work]',
    { volumes: ['bar:/work', 'b:/b'] },
  ],
  [
    'volumes in both forms',
    'volumes: [foo:/work:ro]',
    'volumes: [{ type: volume, source: bar, target: /work }]',
    { volumes: [{ type: 'volume', source: 'bar', target: '/work' }] },
  ],
  ['an anonymous volume', 'volumes: [/work]', 'volumes: [a:/work]', { volumes: ['a:/work'] }],
  [
    'ports that differ are all published',
    'ports: ["8080:80"]',
    'ports: ["8443:443"]',
    { ports: ['8080:80', '8443:443'] },
  ],
  [
    'equal ports are merged into one',
    'ports: ["8080:80", "90"]',
    'ports: [{ target: 80, published: 8080, name: web }, "90/tcp"]',
    { ports: [{ target: '80', published: '8080', name: 'web' }, '90/tcp'] },
  ],
  [
    'ports of another address, protocol or number',
    'ports: ["127.0.0.1:53:53"]',
    'ports: ["53:53", "127.0.0.1:53:53/udp", "127.0.0.1:54:53"]',
    { ports: ['127.0.0.1:53:53', '53:53', '127.0.0.1:53:53/udp', '127.0.0.1:54:53'] },
  ],
  [
    'secrets by their target',
    'secrets: [a, b]',
    'secrets: [{ source: c, target: a }, { source: b, mode: 256 }]',
    {
      secrets: [
        { source: 'c', target: 'a' },
        { source: 'b', mode: '256' },
      ],
    },
  ],
  [
    'configs by their target',
    'configs: [a]',
    'configs: [{ source: b, target: /a }, b]',
    { configs: [{ source: 'b', target: '/a' }, 'b'] },
  ],
  [
    'environment in either form',
    'environment: [A=1, B=x=y, C]',
    'environment: { A: 2, D: 4 }',
    { environment: { A: '2', B: 'x=y', C: null, D: '4' } },
  ],
  ['environment as lists', 'environment: [A=1, B=1]', 'environment: [B=2, A]', { environment: { A: null, B: '2' } }],
  ['labels in either form', 'labels: { a: 1 }', 'labels: [a=2]', { labels: { a: '2' } }],
  [
    'build: a folder, and a map',
    'build: ./app',
    'build: { args: [A=1] }',
    { build: { context: './app', args: ['A=1'] } },
  ],
  [
    'build args in either form',
    'build: { args: { A: 1 } }',
    'build: { args: [B=2] }',
    { build: { args: { A: '1', B: '2' } } },
  ],
  [
    'depends_on in either form',
    'depends_on: [a, b]',
    'depends_on: { b: { condition: service_healthy } }',
    { depends_on: { a: { condition: 'service_started' }, b: { condition: 'service_healthy' } } },
  ],
  [
    'networks in either form',
    'networks: [a]',
    'networks: { b: { aliases: [c] } }',
    { networks: { a: null, b: { aliases: ['c'] } } },
  ],
  [
    'env_file in either form',
    'env_file: a.env',
    'env_file: [b.env, { path: a.env, required: false }]',
    { env_file: [{ path: 'a.env', required: 'false' }, 'b.env'] },
  ],
  ['dns is appended, each once', 'dns: 1.1.1.1', 'dns: [8.8.8.8, 1.1.1.1]', { dns: ['1.1.1.1', '8.8.8.8'] }],
  [
    'extra_hosts in either form',
    'extra_hosts: { a: 1.1.1.1 }',
    'extra_hosts: [a=1.1.1.1, b=2.2.2.2]',
    { extra_hosts: ['a=1.1.1.1', 'b=2.2.2.2'] },
  ],
  [
    'logging of the same driver',
    'logging: { driver: a, options: { x: 1 } }',
    'logging: { options: { y: 2 } }',
    { logging: { driver: 'a', options: { x: '1', y: '2' } } },
  ],
  [
    'logging of another driver',
    'logging: { driver: a, options: { x: 1 } }',
    'logging: { driver: b }',
    { logging: { driver: 'b' } },
  ],
  [
    'an absent value changes nothing',
    'image: a, environment: { A: 1 }',
    'image: , environment: ',
    { image: 'a', environment: { A: '1' } },
  ],
  [
    'a public route by its address',
    'x-coppice: { public: [{ port: 80 }, { port: 81, path: /a }] }',
    'x-coppice: { public: [{ port: 90, path: / }] }',
    {
      'x-coppice': {
        public: [
          { port: '90', path: '/' },
          { port: '81', path: '/a' },
        ],
      },
    },
  ],
  [
    '!reset removes',
    'image: a, ports: ["80:80"], environment: { FOO: bar, B: 1 }',
    'ports: !reset [], environment: { FOO: !reset null }',
    { image: 'a', environment: { B: '1' } },
  ],
  [
    '!reset removes from the other form',
    'environment: [FOO=bar, B=1]',
    'environment: { FOO: !reset null }',
    { environment: { B: '1' } },
  ],
  [
    '!override replaces',
    'image: a, ports: ["8080:80"]',
    'ports: !override ["8443:443"]',
    { image: 'a', ports: ['8443:443'] },
  ],
  ['!override of a map', 'environment: { A: 1 }', 'environment: !override { B: 2 }', { environment: { B: '2' } }],
])('%s', (_, base, over, expected) => {
  expect(mergeServices(base, over)).toEqual(expected);
});

test('contains services and resources of both files', () => {
  expect(
    mergeTexts(
      'services: { a: { image: a } }\nvolumes: { v: }',
      'services: { b: { image: b } }\nvolumes: { v: { x-coppice: { size: 1Gi } } }',
    ).merged,
  ).toEqual({ services: { a: { image: 'a' }, b: { image: 'b' } }, volumes: { v: { 'x-coppice': { size: '1Gi' } } } });
});

test('removes a service that is reset, which can be defined again above', () => {
  const [base, reset, again] = [
    'services: { a: { image: a }, b: { image: b } }',
    'services: { a: !reset null }',
    'services: { a: { image: c } }',
  ];
  expect(mergeTexts(base, reset).merged).toEqual({ services: { b: { image: 'b' } } });
  expect(mergeTexts(base, reset, again).merged).toEqual({ services: { a: { image: 'c' }, b: { image: 'b' } } });
});

test('accepts tags without anything below', () => {
  expect(
    mergeTexts('services: { a: { image: !override b, ports: !reset ["80"], dns: [!reset 1.1.1.1, 8.8.8.8] } }').merged,
  ).toEqual({
    services: { a: { image: 'b', dns: ['8.8.8.8'] } },
  });
});

test.each([
  ['deploy: { replicas: 1 }', 'deploy: [a]', 'is a list, and in 0.yaml on line 2 it is a map'],
  ['image: a', 'image: { b: c }', 'is a map, and in 0.yaml on line 2 it is a scalar'],
])('refuses values of different kinds: %s, %s', (base, over, message) => {
  expect(mergeTexts(service(base), service(over)).errors).toEqual([expect.stringContaining(message)]);
});
