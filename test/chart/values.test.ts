import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { parse } from 'yaml';
import { z } from 'zod';
import { leaves, presetPaths, resolved, valueAt, withValue, type Leaf } from './leaves.ts';
import { chart, render } from './render.ts';
import { everything, existing } from './sample-values.ts';
import { readmePage, readmeText } from './values-page.ts';

test('values.yaml and values.schema.json name the same values', () => {
  expect(presetPaths().sort()).toEqual(leaves.map(({ path }) => path).sort());
});

test('every value is described', () => {
  expect(leaves.filter(({ schema }) => schema.description === undefined).map(({ path }) => path)).toEqual([]);
});

test("the chart's README.md has all values: npm run generate", async () => {
  const text = readFileSync(readmePage, 'utf8');
  expect(text).toBe(await readmeText());
  expect(leaves.filter(({ path }) => !text.includes(`| \`${path}\``)).map(({ path }) => path)).toEqual([]);
});

test('Chart.yaml says what Helm repositories show', () => {
  const fields = z.looseObject({
    icon: z.string().startsWith('data:image/svg+xml;base64,'),
    home: z.url(),
    sources: z.array(z.url()).min(1),
    maintainers: z.array(z.object({ name: z.string(), url: z.url() })).min(1),
  });
  const { icon } = fields.parse(parse(readFileSync(join(chart, 'Chart.yaml'), 'utf8')));
  expect(Buffer.from(icon.split(',')[1] ?? '', 'base64').toString()).toMatch(/^<svg .*<\/svg>$/);
});

/** What cannot be reported by a value that stands in what is rendered: one that may only be one of a few. */
const isChoice = ({ schema }: Leaf) => schema.type === 'boolean' || schema.enum !== undefined;

/** A value that no template would write by itself, and how it looks where it is used. */
function sentinel({ path, schema }: Leaf, number: number): { value: unknown; mark: string } {
  const text = `sentinel-${number}-x`;
  switch (schema.type) {
    case 'integer':
      return { value: 60_000 + number, mark: String(60_000 + number) };
    case 'array':
      if (schema.items && resolved(schema.items).type === 'integer') {
        return { value: [60_000 + number], mark: String(60_000 + number) };
      }
      return { value: [schema.items?.type === 'object' ? { key: text } : text], mark: text };
    case 'object':
      return { value: { [text]: path === 'builder.mirrors' ? ['sentinel/x'] : 'x' }, mark: text };
    default:
      if (path.endsWith('Url') || path.endsWith('.url') || path.endsWith('.issuer')) {
        // A domain of its own each: that of the API must not be above that of environments.
        return { value: `https://${text}.example`, mark: text };
      }
      return { value: text, mark: text };
  }
}

/** What takes the place of something else: it is there in `existing` alone. */
const replacing = new Set([
  'api.administratorSecret.name',
  'api.tls.secretName',
  'redis.externalUrl',
  'redis.passwordSecret.name',
  'tester.tokenSecret.name',
]);

test('every text, number, list and map is used', async () => {
  const marked = leaves.filter((leaf) => !isChoice(leaf)).map((leaf, index) => ({ leaf, ...sentinel(leaf, index) }));
  const texts = await Promise.all(
    [everything, existing].map((base) => {
      const values = marked
        .filter(({ leaf }) => base === existing || !replacing.has(leaf.path))
        .reduce<object>((given, { leaf, value }) => withValue(given, leaf.path, value), base);
      return render(values, '--skip-schema-validation');
    }),
  );
  const unused = marked.filter(({ mark }) => !texts.some((text) => new RegExp(`\\b${mark}\\b`).test(text)));
  expect(unused.map(({ leaf }) => leaf.path)).toEqual([]);
});

/** What is made up anew with each rendering. */
const withoutRandom = (text: string) => text.replace(/[A-Za-z0-9]{40}/g, '');

/** Without what the choice at the path excludes. */
function withoutExcluding(path: string): object {
  if (path === 'api.registration.provesAddress') return withValue(everything, 'api.oidc.issuer', '');
  if (path === 'metrics.podMonitor.enabled') return withValue(everything, 'metrics.serviceMonitor.enabled', false);
  return everything;
}

test('every choice changes what is rendered', async () => {
  const choices = leaves.filter(isChoice);
  const base = withoutRandom(await render(everything, '--skip-schema-validation'));
  const unused: string[] = [];
  for (const { path, schema, preset } of choices) {
    const now = valueAt(everything, path) ?? preset;
    const value = schema.enum ? schema.enum.find((one) => one !== now) : now !== true;
    const values = withoutExcluding(path);
    const text = withoutRandom(await render(withValue(values, path, value), '--skip-schema-validation'));
    if (text === base) unused.push(path);
  }
  expect(unused).toEqual([]);
});
