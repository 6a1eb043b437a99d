import { globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { parse } from 'yaml';
import { z } from 'zod';
import { REPOSITORY_ROOT } from '../support/paths.ts';
import { readChangelog } from './changelog.ts';
import { LAST_RELEASE, unpackLastChart } from './last-release.ts';
import { changesOf, schemaSchema, type Changes, type Schema } from './schema-changes.ts';

/** What docs/how-to/upgrade.md promises, compared with the last release. */
const chart = join(REPOSITORY_ROOT, 'charts/coppice');
const scratch = mkdtempSync(join(tmpdir(), 'compatibility-'));
let last: string;

beforeAll(async () => {
  last = await unpackLastChart(scratch);
});
afterAll(() => rmSync(scratch, { recursive: true }));

const definitionSchema = z.looseObject({
  spec: z.looseObject({
    versions: z.array(
      z.looseObject({
        name: z.string(),
        served: z.boolean(),
        storage: z.boolean(),
        schema: z.looseObject({ openAPIV3Schema: schemaSchema }),
      }),
    ),
  }),
});

const definition = (folder: string, name: string) =>
  definitionSchema.parse(parse(readFileSync(join(folder, 'files/crds', name), 'utf8')));

function definitionOf(folder: string, name: string): Schema {
  const version = definition(folder, name).spec.versions.find((one) => one.name === 'v1alpha1');
  if (!version?.served) throw new Error(`${name} does not serve v1alpha1`);
  return version.schema.openAPIV3Schema;
}

const valuesOf = (folder: string): Schema =>
  schemaSchema.parse(JSON.parse(readFileSync(join(folder, 'values.schema.json'), 'utf8')));

describe.each(globSync('*.yaml', { cwd: join(chart, 'files/crds') }))('the definition %s', (name) => {
  test('can be upgraded and rolled back: each release serves the version that the other one stores', () => {
    const [before, now] = [last, chart].map((folder) => definition(folder, name).spec.versions);
    const served = (versions: typeof now) => versions?.filter((one) => one.served).map((one) => one.name);
    const stored = (versions: typeof now) => versions?.filter((one) => one.storage).map((one) => one.name);
    expect(served(now)).toEqual(expect.arrayContaining(stored(before) ?? []));
    expect(served(before)).toEqual(expect.arrayContaining(stored(now) ?? []));
  });

  test('accepts what the last release accepted, with the same meaning', () => {
    expect(changesOf(definitionOf(last, name), definitionOf(chart, name)).broken).toEqual([]);
  });
});

test('no definition of the last release is gone', () => {
  const names = (folder: string) => globSync('*.yaml', { cwd: join(folder, 'files/crds') });
  expect(names(chart)).toEqual(expect.arrayContaining(names(last)));
});

test('the chart accepts the values of the last release', () => {
  expect(changesOf(valuesOf(last), valuesOf(chart)).broken).toEqual([]);
});

test('the changelog names each new value of the chart and each new field of a resource', () => {
  const { unreleased, releases } = readChangelog(readFileSync(join(REPOSITORY_ROOT, 'CHANGELOG.md'), 'utf8'));
  const newer = releases.filter(({ version }) => version !== LAST_RELEASE.version).map(({ notes }) => notes);
  const text = [unreleased, ...newer].join('\n');
  /** `lifecycle.sleepAfter` is named as such, or as `sleepAfter`. */
  const isNamed = (path: string) => {
    const parts = path.replaceAll('[]', '').split('.');
    return parts.some((_part, from) => text.includes(`\`${parts.slice(from).join('.')}\``));
  };
  const added = (changes: Changes, prefix: string) => changes.added.map((path) => `${prefix}${path}`);
  const all = [
    ...added(changesOf(valuesOf(last), valuesOf(chart)), ''),
    ...globSync('*.yaml', { cwd: join(last, 'files/crds') }).flatMap((name) =>
      added(changesOf(definitionOf(last, name), definitionOf(chart, name)), '').filter((path) =>
        path.startsWith('spec.'),
      ),
    ),
  ];
  expect(
    all
      .filter((path) => !isNamed(path))
      .map((path) => `${path} is new since ${LAST_RELEASE.version}: name it in CHANGELOG.md`),
  ).toEqual([]);
});
