import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { stringify } from 'yaml';
import { formatProblem } from './problems.ts';
import { parseServiceFile } from './parse.ts';
import { serviceFileSchema } from './schema.ts';

const laughs = Array.from({ length: 9 }, (_, level) =>
  level === 0
    ? 'x-0: &a0 [ha, ha, ha]'
    : `x-${level}: &a${level} [${Array(9)
        .fill(`*a${level - 1}`)
        .join(', ')}]`,
).join('\n');

const mergedLaughs = Array.from({ length: 20 }, (_, level) =>
  level === 0
    ? 'x-0: &a0 { a: b }'
    : `x-${level}: &a${level} { <<: [${Array(9)
        .fill(`*a${level - 1}`)
        .join(', ')}] }`,
).join('\n');

const size = 120 * 1024;

test.each<[string, string, string]>([
  ['aliases that multiply', laughs, 'more than 20000 values'],
  ['merge keys that multiply', mergedLaughs, 'more than 20000 values'],
  ['an alias inside its own anchor', 'services: &a { web: *a }', 'stands inside its own anchor'],
  ['an alias without an anchor', 'services: *a', 'has no anchor'],
  ['a merge of what is no map', 'services: { <<: [1] }', 'only maps can be merged'],
  ['a quoted merge key', 'services: { "<<": {} }', 'kept for merging'],
  ['deep nesting', 'services: ' + '['.repeat(200) + ']'.repeat(200), 'nested too deep'],
  ['very deep nesting', '['.repeat(size), 'nested too deep'],
  ['very deep flow maps', '{a: '.repeat(size / 4), 'nested too deep'],
  ['very deep lists', '- '.repeat(size / 2), 'nested too deep'],
  ['many errors', ']'.repeat(size), 'not valid YAML'],
  ['many keys', Array.from({ length: size / 8 }, (_, i) => `k${i}:`).join('\n'), 'is not a key of a service file'],
  ['many values', '-\n'.repeat(size / 2), 'more than 20000 values'],
  ['a key that is too long', `${'k'.repeat(size)}: 1`, 'not valid YAML'],
  ['a long explicit key', `? ${'k'.repeat(size)}\n: 1`, 'is not a key of a service file'],
  ['too large a file', '#'.repeat(size + 10_000), 'larger than 128 KiB'],
  ['a custom tag', 'services: !foo {}', 'the tag "!foo" is not supported'],
  ['a Compose override tag', 'services: { a: !reset null }', 'the tag "!reset" is not supported'],
  ['a binary', 'services: { a: !!binary aGk= }', 'is not supported: remove it'],
  ['a set', 'services: !!set { a }', 'is not supported: remove it'],
  ['another YAML version', '%YAML 1.1\n---\nservices: {}', 'only YAML 1.2 is read'],
  ['two documents', 'services: {}\n---\nservices: {}', 'only one document'],
  ['tabs', 'services:\n\tweb: {}', 'Tabs are not allowed as indentation'],
  [
    'many services',
    `services: { ${Array.from({ length: 101 }, (_, i) => `s${i}: { image: a }`).join(', ')} }`,
    'more than 100 services',
  ],
  ['a prototype as services', 'services: { __proto__: { image: a } }', 'cannot be a host name'],
  ['duplicate keys', 'services: { web: { image: a }, web: { image: b } }', 'the key is there twice'],
])('%s: refused within seconds, in few words', (_, yaml, message) => {
  const start = performance.now();
  const { serviceFile, errors } = parseServiceFile(yaml);
  expect(performance.now() - start).toBeLessThan(20_000);
  expect(serviceFile).toBeUndefined();
  expect(errors.map((error) => formatProblem('compose.yaml', error)).join('\n')).toContain(message);
  expect(JSON.stringify(errors).length).toBeLessThan(20_000);
});

test('nothing reaches the prototype of objects', () => {
  parseServiceFile(
    'services: { web: { image: a, environment: { __proto__: b, constructor: c } } }\n__proto__: { x: 1 }',
  );
  expect(({} as Record<string, unknown>)['x']).toBeUndefined();
  expect(Object.getOwnPropertyNames(Object.prototype)).not.toContain('b');
});

test('each alias means the anchor before it, also where it is filled in later', () => {
  const { serviceFile, errors } = parseServiceFile(`
x-1: &name { A: first }
x-2: &env { environment: *name, image: i }
x-3: &name { A: second }
services: { web: *env }
`);
  expect(errors).toEqual([]);
  expect(serviceFile?.services[0]?.environment).toEqual({ A: 'first' });
});

test('whatever the text: it never throws, and there is a service file exactly when there are no errors', () => {
  const key = fc.constantFrom(
    'image',
    'build',
    'ports',
    'environment',
    'command',
    'depends_on',
    'x-coppice',
    'b',
    'CMD',
  );
  const value = fc.letrec((tie) => ({
    node: fc.oneof(
      { depthSize: 'small' },
      fc.oneof(fc.string(), fc.integer(), fc.boolean(), fc.constantFrom(null, '80:80', '.', 'b')),
      fc.array(tie('node'), { maxLength: 3 }),
      fc.dictionary(key, tie('node'), { maxKeys: 3 }),
    ),
  })).node;
  const file = fc.record({
    services: fc.dictionary(fc.constantFrom('a', 'b'), fc.dictionary(key, value, { maxKeys: 3 })),
  });
  const text = fc.oneof(
    fc.string({ unit: 'binary' }),
    file.map((content) => stringify(content)),
  );
  fc.assert(
    fc.property(text, (yaml) => {
      const { serviceFile, errors } = parseServiceFile(yaml);
      expect(serviceFile === undefined).toBe(errors.length > 0);
      if (serviceFile) expect(serviceFileSchema.parse(JSON.parse(JSON.stringify(serviceFile)))).toEqual(serviceFile);
    }),
    { numRuns: 500 },
  );
});
