import { z } from 'zod';
import type { Problems } from '../problems.ts';
import { quoted, tooMany } from '../problems.ts';
import type { EnvironmentTest } from '../schema.ts';
import { plainData } from '../yaml/plain-data.ts';
import type { YamlNode } from '../yaml/yaml-node.ts';
import { testKeys } from './keys/x-coppice-keys.ts';
import { optional, readFields, readList, readName } from './read.ts';

/** Limit, because all groups share the tester. */
const maxTests = 10;
/** Maximum size of all `params` of a test, as JSON. */
const maxParamsBytes = 8 * 1024;
const maxDepth = 6;

const params = z.record(z.string(), z.json());

/** Reads the file's tests. The tester checks their types and params. */
export function readTests(node: YamlNode, problems: Problems): EnvironmentTest[] | undefined {
  const items = readList(node, problems);
  if (items !== undefined && items.length > maxTests) return problems.error(node, tooMany(maxTests, 'tests'));
  const names = new Set<string>();
  return items?.flatMap((item) => {
    const test = readTest(item, problems);
    if (test === undefined) return [];
    if (names.has(test.name))
      problems.error(item, `the test ${quoted(test.name)} is listed twice: give it another name`);
    names.add(test.name);
    return [test];
  });
}

function readTest(node: YamlNode, problems: Problems): EnvironmentTest | undefined {
  const fields = readFields(node, testKeys, problems);
  if (fields === undefined) return undefined;
  const name = optional(fields, 'name', readTestName, problems);
  const type = optional(fields, 'type', readType, problems);
  const given = fields.get('params');
  const read = given === undefined ? {} : readParams(given.value, problems);
  if (!fields.has('name') || !fields.has('type')) problems.error(node, 'a test has a name and a type: add both');
  return name === undefined || type === undefined || read === undefined ? undefined : { name, type, params: read };
}

function readTestName(node: YamlNode, problems: Problems): string | undefined {
  const text = readName(node, problems);
  if (text === undefined || /^[a-z]([a-z0-9-]{0,38}[a-z0-9])?$/.test(text)) return text;
  const rule = 'use at most 40 lower-case letters, digits and -, a letter first';
  return problems.error(node, `${quoted(text)} is not a name for a test: ${rule}`);
}

function readType(node: YamlNode, problems: Problems): string | undefined {
  const text = readName(node, problems);
  if (text === undefined || /^[a-z][a-z0-9-]{0,39}$/.test(text)) return text;
  return problems.error(node, `${quoted(text)} is not a type of test: write it like http or page`);
}

function readParams(node: YamlNode, problems: Problems): EnvironmentTest['params'] | undefined {
  if (node.kind !== 'map') return problems.error(node, "must be a map of the type's params");
  const url = node.entries.find(({ key }) => key === 'url');
  if (url) return problems.error(url.at, "is set to the environment's own address: remove it");
  if (!isPlain(node, problems, 1)) return undefined;
  const { success, data } = params.safeParse(plainData(node));
  if (!success) return problems.error(node, 'contains a number that JSON cannot represent: put it in quotes');
  if (Buffer.byteLength(JSON.stringify(data)) <= maxParamsBytes) return data;
  return problems.error(node, `larger than ${maxParamsBytes / 1024} KiB: shorten it`);
}

/**
 * Returns whether the value contains no variables. Params appear in the tester's results, which more people can read
 * than variables.
 */
function isPlain(node: YamlNode, problems: Problems, depth: number): boolean {
  if (node.kind === 'scalar') {
    if (node.written === undefined) return true;
    problems.error(node, 'variables are not filled into tests, whose results would show them: write the value');
    return false;
  }
  if (depth > maxDepth) {
    problems.error(node, `more than ${maxDepth} levels deep: nest less`);
    return false;
  }
  const values = node.kind === 'list' ? node.items : node.entries.map(({ value }) => value);
  return values.every((value) => isPlain(value, problems, depth + 1));
}
