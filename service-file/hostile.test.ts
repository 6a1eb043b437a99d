import { expect, test } from '@jest/globals';
import fc from '../test/properties.ts';
import { stringify } from 'yaml';
import { formatProblem } from './problems.ts';
import { readYaml } from './testing/read-yaml.ts';
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
/**
 * An operator that plans a file does nothing else meanwhile, and must renew its Lease within 10 s. Counted as CPU time,
 * because other tests can run beside it.
 */
const maxCpuMs = 8000;
/** Fewer tokens than the limit, so that another limit applies. */
const tokens = 50_000;

test.each<[string, string, string]>([
  ['aliases that multiply', laughs, 'more than 20000 values'],
  ['merge keys that multiply', mergedLaughs, 'more than 20000 values'],
  [
    'a long text behind many aliases',
    `x-t: &t ${'a'.repeat(100_000)}\nservices: { w: { image: i, command: [${'*t,'.repeat(5000)}] } }`,
    'more than 1024 KiB of text in all files together, aliases filled in',
  ],
  [
    'long keys behind many aliases',
    `x-t: &t\n  ? ${'k'.repeat(90_000)}\n  : 1\nservices: { w: { image: i, x-a: [${'*t,'.repeat(5000)}] } }`,
    'more than 1024 KiB of text in all files together, aliases filled in',
  ],
  ['an alias inside its own anchor', 'services: &a { web: *a }', 'is inside its own anchor'],
  ['an alias without an anchor', 'services: *a', 'has no anchor'],
  ['a merge of a value that is not a map', 'services: { <<: [1] }', 'only maps can be merged'],
  ['a quoted merge key', 'services: { "<<": {} }', 'reserved for merging'],
  ['deep nesting', 'services: ' + '['.repeat(200) + ']'.repeat(200), 'nested too deep'],
  ['very deep nesting', '['.repeat(tokens), 'nested too deep'],
  ['very deep flow maps', '{a: '.repeat(tokens / 5), 'nested too deep'],
  ['very deep lists', '- '.repeat(tokens / 2), 'nested too deep'],
  ['many errors', ']'.repeat(tokens), 'not valid YAML'],
  ['many keys', Array.from({ length: tokens / 5 }, (_, i) => `k${i}:`).join('\n'), 'is not a key of a service file'],
  ['many values', '-\n'.repeat(tokens / 2), 'more than 20000 values'],
  ['many tokens', `x: [${'a,'.repeat(size / 2)}]`, 'more than 60000 YAML tokens: shorten the file'],
  ['many wrong tokens', ']'.repeat(size), 'more than 60000 YAML tokens'],
  ['a key that is too long', `${'k'.repeat(size)}: 1`, 'not valid YAML'],
  ['a long explicit key', `? ${'k'.repeat(size)}\n: 1`, 'is not a key of a service file'],
  ['too large a file', '#'.repeat(size + 10_000), 'larger than 128 KiB'],
  ['a custom tag', 'services: !foo {}', 'the tag "!foo" is not supported'],
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
  ['duplicate keys', 'services: { web: { image: a }, web: { image: b } }', 'the key is repeated'],
])('refuses %s within seconds, with a short message', async (_, yaml, message) => {
  const start = process.cpuUsage();
  const { serviceFile, errors } = await readYaml(yaml);
  expect(cpuMsSince(start)).toBeLessThan(maxCpuMs);
  expect(serviceFile).toBeUndefined();
  expect(errors.map(formatProblem).join('\n')).toContain(message);
  expect(JSON.stringify(errors).length).toBeLessThan(20_000);
});

const services = (count: number, yaml: (index: number) => string) =>
  Array.from({ length: count }, (_, index) => `  s${index}: ${yaml(index)}`).join('\n');

const twice = Object.fromEntries(
  Array.from({ length: 19 }, (_, level) => [`${level}.yaml`, `include: [${level + 1}.yaml, ${level + 1}.yaml]`]),
);

test.each<[string, string, Record<string, string>, string]>([
  ['includes that multiply', 'include: [0.yaml, 0.yaml]', twice, 'more than 20 files are read'],
  [
    'many includes of one file',
    `include: [${'a.yaml, '.repeat(5000)}]`,
    { 'a.yaml': 'services: {}' },
    'more than 20 files are read',
  ],
  [
    'includes that are large together',
    `include: [${Array.from({ length: 6 }, (_, index) => `${index}.yaml`).join(', ')}]`,
    Object.fromEntries(
      Array.from({ length: 6 }, (_, index) => [`${index}.yaml`, `x-a: 1\n#${'a'.repeat(100 * 1024)}`]),
    ),
    'are larger than 512 KiB',
  ],
  [
    'includes that have many tokens together',
    `include: [${Array.from({ length: 4 }, (_, index) => `${index}.yaml`).join(', ')}]`,
    Object.fromEntries(Array.from({ length: 4 }, (_, index) => [`${index}.yaml`, `x-a: [${'a,'.repeat(15_000)}]`])),
    'more than 120000 YAML tokens in all files together',
  ],
  [
    'includes whose aliases have many values together',
    `include: [${Array.from({ length: 5 }, (_, index) => `${index}.yaml`).join(', ')}]`,
    Object.fromEntries(
      Array.from({ length: 5 }, (_, index) => [
        `${index}.yaml`,
        `x-a: &a [${'a,'.repeat(120)}]\nx-b: [${'*a,'.repeat(120)}]`,
      ]),
    ),
    'more than 60000 values in all files together',
  ],
  [
    'many env files',
    `include: [{ path: a.yaml, env_file: [${'a.env, '.repeat(5000)}] }]`,
    { 'a.yaml': 'services: {}', 'a.env': 'A=1' },
    'more than 50 env files are read',
  ],
  [
    'a chain of services that extend each other',
    `services:\n${services(2000, (index) => `{ extends: s${index + 1} }`)}\n  s2000: { image: a }`,
    {},
    'more than 32 services extend one another',
  ],
  [
    'many services that extend a large one',
    `services:\n${services(1000, () => '{ extends: { file: a.yaml, service: a } }')}`,
    { 'a.yaml': `services: { a: { image: a, dns_opt: [${Array.from({ length: 9000 }, (_, i) => i).join(', ')}] } }` },
    'more than 20000 values, extended and included ones filled in',
  ],
  [
    'very many services that extend a large one',
    `services:\n${services(2500, () => '{ extends: b }')}\n  b: { image: a, dns_opt: [${'a,'.repeat(6000)}] }`,
    {},
    'more than 20000 values, extended and included ones filled in',
  ],
  [
    'a long text that many services extend',
    `services:\n${services(99, () => '{ extends: b }')}\n  b: { image: a, dns_opt: [${'a'.repeat(90_000)}] }`,
    {},
    'more than 4096 KiB of text, extended and included ones filled in',
  ],
  [
    'a value that grows with each service that extends it',
    `services:\n${services(30, (index) => `{ extends: s${index + 1}, security_opt: [${'a, '.repeat(300)}] }`)}\n  s30: { image: a }`,
    {},
    'more than 20000 values, extended and included ones filled in',
  ],
  [
    'a variable that fills the file',
    `services: { a: { image: a, environment: [${Array.from({ length: 500 }, (_, i) => `"A${i}=$LONG"`).join(', ')}] } }`,
    { '.env': `LONG=${'a'.repeat(100 * 1024)}` },
    'larger than 1024 KiB with its variables filled in',
  ],
  [
    'variables of variables',
    'services: { a: { image: "$V20" } }',
    {
      '.env': `V0=ha\n${Array.from({ length: 20 }, (_, i) => `V${i + 1}=${`$V${i}`.repeat(9)}`).join('\n')}`,
    },
    'is longer than 128 KiB with its variables filled in',
  ],
  [
    'an env file that is not text',
    'services: { a: { image: $A } }',
    { '.env': 'A="' + '\\"'.repeat(60_000) },
    'not closed',
  ],
])('refuses %s within seconds, with a short message', async (_, yaml, others, message) => {
  const start = process.cpuUsage();
  const { serviceFile, errors } = await readYaml(yaml, others);
  expect(cpuMsSince(start)).toBeLessThan(maxCpuMs);
  expect(serviceFile).toBeUndefined();
  expect(errors.map(formatProblem).join('\n')).toContain(message);
  expect(JSON.stringify(errors).length).toBeLessThan(20_000);
});

test.each<[string, string, Record<string, string>]>([
  [
    'many names that are not host names, in a file with much text',
    `x-t: &t ${'a'.repeat(95_000)}\nservices:\n  w: { image: i, command: [${'*t,'.repeat(9)}] }\n${services(98, (index) => `{ image: i, x-a: ${index} }`).replaceAll(/s(\d+):/g, 'a$1_:')}`,
    {},
  ],
  [
    'long values of variables that are almost in long texts of messages',
    `x-t: &t ${'a'.repeat(90_000)}\nservices: { w: { image: i, ports: [${'*t,'.repeat(9)}] } }`,
    Object.fromEntries(
      Array.from({ length: 16 }, (_, index) => [`V${index}`, `${'a'.repeat(16_000)}b${'a'.repeat(16_000 + index)}`]),
    ),
  ],
  [
    'many unknown volumes beside many similar names',
    `services:\n  w: { image: i, volumes: [${Array.from({ length: 20 }, (_, index) => `"${'a'.repeat(30)}${index + 10}bbbbbb:/m${index}"`).join(', ')}] }\nvolumes:\n${Array.from({ length: 2500 }, (_, index) => `  ${'a'.repeat(33)}${String(index).padStart(5, '0')}: {}`).join('\n')}`,
    {},
  ],
])('reads %s within seconds', async (_, yaml, variables) => {
  const start = process.cpuUsage();
  await readYaml(yaml, {}, variables);
  expect(cpuMsSince(start)).toBeLessThan(maxCpuMs);
});

test('names the longest of overlapping variables in messages, and shows no part of the others', async () => {
  const variables = { A: 'first-and-second', B: 'second-and-a-long-third', C: 'and-' };
  const yaml = 'services: { a: { image: i, ports: ["x first-and-second-and-a-long-third y"] } }';
  const { errors } = await readYaml(yaml, {}, variables);
  expect(errors.map(formatProblem).join('')).toContain('"x ${B} y"');
});

test('contains no value of a variable in messages, whole, in part or escaped', async () => {
  const secret = 'hunter2-"quoted"\\-and-quite-a-long-tail-that-goes-on-and-on-and-on-and-on';
  const yaml = `
services:
  a: { image: "x \${S}", ports: ["\${S}:80", "80/\${S}"], healthcheck: { interval: "\${S}", test: a } }
  b: { build: "../../\${S}", restart: $S, user: $S, stop_signal: "a \${S}" }
  c: { image: c, depends_on: ["\${S}"], volumes: ["\${S}:/a:\${S}"], networks: ["\${S}"], mem_limit: "\${S}" }
  d: { image: "\${NEEDED:?$S}", logging: { driver: [ "$S" ] }, init: "\${S}", command: "'\${S}" }
`;
  const plain = { SHORT: 'abc', S: secret };
  for (const text of [yaml, yaml.replace('${NEEDED:?$S}', 'd')]) {
    const { errors, warnings } = await readYaml(text, {}, plain);
    expect(errors.length).toBeGreaterThan(0);
    expect(JSON.stringify([errors, warnings])).not.toMatch(/hunter2|quoted|tail|goes-on/);
  }
});

test('does not reach the prototype of objects', async () => {
  await readYaml('services: { web: { image: a, environment: { __proto__: b, constructor: c } } }\n__proto__: { x: 1 }');
  expect(({} as Record<string, unknown>)['x']).toBeUndefined();
  expect(Object.getOwnPropertyNames(Object.prototype)).not.toContain('b');
});

test('resolves each alias to the anchor before it, also where it is filled in later', async () => {
  const { serviceFile, errors } = await readYaml(`
x-1: &name { A: first }
x-2: &env { environment: *name, image: i }
x-3: &name { A: second }
services: { web: *env }
`);
  expect(errors).toEqual([]);
  expect(serviceFile?.services[0]?.environment).toEqual({ A: 'first' });
});

test('never throws, and returns a service file exactly when there are no errors', async () => {
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
  await fc.assert(
    fc.asyncProperty(text, async (yaml) => {
      const { serviceFile, errors } = await readYaml(yaml);
      expect(serviceFile === undefined).toBe(errors.length > 0);
      if (serviceFile) expect(serviceFileSchema.parse(JSON.parse(JSON.stringify(serviceFile)))).toEqual(serviceFile);
    }),
    { numRuns: 500 },
  );
});

function cpuMsSince(start: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(start);
  return (user + system) / 1000;
}
