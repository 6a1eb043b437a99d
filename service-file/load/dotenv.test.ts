import { describe, expect, test } from '@jest/globals';
import type { Variable } from '../variables.ts';
import { DotenvError, parseDotenv } from './dotenv.ts';

const variables = new Map<string, Variable>([
  ['HOST', { value: 'db', visibility: 'always' }],
  ['TOKEN', { value: 'hunter2', visibility: 'buildtime' }],
]);

const values = (text: string) =>
  Object.fromEntries([...parseDotenv(text, variables, () => undefined)].map(([name, { value }]) => [name, value]));

test.each<[string, Record<string, string>]>([
  ['A=1\nB = two words \n\n# none\nC=', { A: '1', B: 'two words', C: '' }],
  ['A=1 # one\nB=a#b\nC=" # " # c', { A: '1', B: 'a#b', C: ' # ' }],
  ['export A=1\r\nB: 2\r\n', { A: '1', B: '2' }],
  ['\uFEFFA=1', { A: '1' }],
  [`A='$HOST \\n it\\'s'\nB="$HOST \\n \\"q\\" \\$HOST \\x"`, { A: "$HOST \\n it's", B: 'db \n "q" $HOST \\x' }],
  ['A="one\ntwo"\nB=3', { A: 'one\ntwo', B: '3' }],
  ['A=1\nB=$A-${HOST}-${NONE:-x}-$$', { A: '1', B: '1-db-x-$' }],
  ['HOST=mine\nB=$HOST', { HOST: 'mine', B: 'db' }],
  ['HOST\nNONE\n', { HOST: 'db' }],
  ['a.b-c=1', { 'a.b-c': '1' }],
  ['__proto__=1', Object.fromEntries([['__proto__', '1']])],
  ['', {}],
])('%j', (text, expected) => {
  expect(values(text)).toEqual(expected);
});

test('makes a value buildtime when a buildtime variable is filled into it', () => {
  const found = parseDotenv('A=${TOKEN}\nB=x$A\nC=${TOKEN:+set}\nTOKEN', variables, () => undefined);
  expect([...found.values()].map(({ visibility }) => visibility)).toEqual([
    'buildtime',
    'buildtime',
    'always',
    'buildtime',
  ]);
});

describe('a text that is not an env file is reported with its line, without a value', () => {
  test.each([
    ['A=1\n=hunter2', 2],
    ['A=1\nB C=hunter2', 2],
    ['\n\nA="hunter2', 3],
    ["A='hunter2", 1],
    ['A=${N:-hunter2', 1],
    ['A B', 1],
  ])('%j', (text, line) => {
    expect(() => values(text)).toThrow(DotenvError);
    expect(() => values(text)).toThrow(expect.objectContaining({ line }));
    expect(() => values(text)).not.toThrow(/hunter2(?!\})/);
  });
});

test('limits the total length of repeated long values', () => {
  const repeated = Array.from({ length: 1000 }, (_, index) => `N${index}=$LONG`);
  const text = [`LONG=${'x'.repeat(1000)}`, ...repeated].join('\n');
  expect(() => values(text)).toThrow('makes the file longer than 256 KiB with its variables filled in');
  expect(Object.keys(values(text.slice(0, text.indexOf('N200='))))).toHaveLength(201);
});

test('reports each variable that is set nowhere once, at its first line', () => {
  const reported: string[] = [];
  const text = 'A=1\nSECRET=abc$def\nB="x\n\ny$gone"\nC=$def${A}${N:-x}$HOST\nALONE\n';
  parseDotenv(text, variables, (line, message) => reported.push(`${line} ${message}`));
  expect(reported).toEqual([
    '2 the variable def is not set, so it is empty: set it, or write $$ for a literal $',
    '3 the variable gone is not set, so it is empty: set it, or write $$ for a literal $',
    '7 the variable ALONE is not set, so it is left out: set it, or remove it here',
  ]);
});
