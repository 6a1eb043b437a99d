import { describe, expect, test } from '@jest/globals';
import { readYaml } from '../testing/read-yaml.ts';

/** Reads a file with these lines of `x-coppice`. */
async function read(lines: string, variables: Record<string, string> = {}) {
  const text = `services: { web: { image: app, ports: ['80'] } }\nx-coppice:\n${lines.replaceAll(/^(?=.)/gm, '  ')}\n`;
  const { serviceFile, errors, warnings } = await readYaml(text, {}, variables);
  const reported = [...errors, ...warnings].map(
    ({ path, line, column, message }) => `${line}:${column} ${path}: ${message}`,
  );
  return { tests: serviceFile?.tests, reported };
}

describe('the tests of a service file', () => {
  test('are read in their order, with params of any kind', async () => {
    const { tests, reported } = await read(
      [
        'tests:',
        '  - name: pages',
        '    type: http',
        '    params: { paths: [{ path: /, status: 200, text: "Hello" }, { path: /old, status: 301 }] }',
        '  - { name: looks, type: page }',
      ].join('\n'),
    );
    expect(reported).toEqual([]);
    const paths = [
      { path: '/', status: 200, text: 'Hello' },
      { path: '/old', status: 301 },
    ];
    expect(tests).toEqual([
      { name: 'pages', type: 'http', params: { paths } },
      { name: 'looks', type: 'page', params: {} },
    ]);
  });

  test('can be absent', async () => {
    expect(await read('tests: []')).toEqual({ tests: undefined, reported: [] });
  });

  test('keep an escaped dollar sign', async () => {
    const { tests } = await read('tests: [{ name: a, type: http, params: { text: "1 $$" } }]');
    expect(tests).toEqual([{ name: 'a', type: 'http', params: { text: '1 $' } }]);
  });

  test.each([
    ['tests: page', '3:10 x-coppice.tests: must be a list, this is text'],
    ['tests: [page]', '3:11 x-coppice.tests[0]: a test must be a map of keys, this is text'],
    ['tests: [{ name: a }]', '3:11 x-coppice.tests[0]: a test has a name and a type: add both'],
    ['tests: [{ name: A b, type: http }]', '3:19 x-coppice.tests[0].name: "A b" is not a name for a test: use at most'],
    ['tests: [{ name: a, type: ../x }]', '3:28 x-coppice.tests[0].type: "../x" is not a type of test'],
    [
      'tests: [{ name: a, typ: http }]',
      '3:22 x-coppice.tests[0].typ: "typ" is not a key of a test: did you mean "type"?',
    ],
    ['tests: [{ name: a, type: http, params: [1] }]', "3:42 x-coppice.tests[0].params: must be a map of the type's"],
    [
      'tests: [{ name: a, type: http, params: { url: "http://other.example" } }]',
      "3:44 x-coppice.tests[0].params.url: is set to the environment's own address",
    ],
    [
      'tests: [{ name: a, type: http, params: { paths: [{ text: "$TOKEN" }] } }]',
      '3:60 x-coppice.tests[0].params.paths[0].text: variables are not filled into tests',
    ],
    ['tests: [{ name: a, type: http, params: { n: .inf } }]', '3:42 x-coppice.tests[0].params: contains a number'],
    [
      'tests: [{ name: a, type: http, params: { n: [[[[[[1]]]]]] } }]',
      '3:52 x-coppice.tests[0].params.n[0][0][0][0][0]: more than 6 levels deep',
    ],
    [
      `tests: [{ name: a, type: http, params: { text: ${'x'.repeat(9000)} } }]`,
      '3:42 x-coppice.tests[0].params: larger than 8 KiB',
    ],
    [
      'tests: [{ name: a, type: http }, { name: a, type: page }]',
      '3:36 x-coppice.tests[1]: the test "a" is listed twice',
    ],
    [
      `tests: [${Array.from({ length: 11 }, (_, n) => `{ name: a${n}, type: http }`).join(', ')}]`,
      '3:10 x-coppice.tests: more than 10 tests',
    ],
  ])('refuse %s', async (lines, expected) => {
    const { tests, reported } = await read(lines, { TOKEN: 'hunter2hunter2' });
    expect(tests).toBeUndefined();
    expect(reported).toContainEqual(expect.stringContaining(expected));
    expect(reported.join()).not.toContain('hunter2');
  });
});
