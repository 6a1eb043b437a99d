import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { parse } from 'yaml';
import { z } from 'zod';
import { ENTRIES, isLeaf, LEAVES, presetPaths, resolved, valueAt, withValue, type Leaf } from './leaves.ts';
import { CHART, render } from './render.ts';
import { ALL_VALUES, EXISTING_VALUES, GATEWAY_VALUES } from './sample-values.ts';
import { README_PAGE, readmeText } from './values-page.ts';

test('has the same values in values.yaml and values.schema.json', () => {
  expect(presetPaths().sort()).toEqual(LEAVES.map(({ path }) => path).sort());
});

test('describes every value and group, in words that need no heading', () => {
  const described = ENTRIES.map((entry) => ({
    path: entry.path,
    words: isLeaf(entry) ? entry.schema.description : entry.description,
  }));
  const vague = /^(Whether (it|they) |(Size|Addresses|Ports|TCP ports)\.|Settings of |The same |Its key )/;
  const lacking = described.filter(({ words }) => words === undefined || vague.test(words));
  expect(lacking.map(({ path }) => path)).toEqual([]);
});

test('lists all values in README.md: npm run generate', async () => {
  const text = readFileSync(README_PAGE, 'utf8');
  expect(text).toBe(await readmeText());
  const parts = new Set(ENTRIES.map(({ path }) => path.split('.')[0]));
  const rows = ENTRIES.filter((entry) => isLeaf(entry) || !parts.has(entry.path));
  expect(rows.filter(({ path }) => !text.includes(`| \`${path}\``)).map(({ path }) => path)).toEqual([]);
});

test('has the metadata that Helm repositories show in Chart.yaml', () => {
  const fields = z.looseObject({
    icon: z.string().startsWith('data:image/svg+xml;base64,'),
    home: z.url(),
    sources: z.array(z.url()).min(1),
    maintainers: z.array(z.object({ name: z.string(), url: z.url() })).min(1),
  });
  const { icon } = fields.parse(parse(readFileSync(join(CHART, 'Chart.yaml'), 'utf8')));
  expect(Buffer.from(icon.split(',')[1] ?? '', 'base64').toString()).toMatch(/^<svg .*<\/svg>$/);
});

/** Returns whether a value is one of a few, so that it cannot be recognized in the rendered objects. */
const isChoice = ({ schema }: Leaf) => schema.type === 'boolean' || schema.enum !== undefined;

/** Returns a value that no template contains, and what it looks like where it is used. */
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
        // Each URL has its own domain, because the chart refuses an API on a parent of the environments' domain.
        return { value: `https://${text}.example`, mark: text };
      }
      return { value: text, mark: text };
  }
}

/** Values that replace something else, and occur only in EXISTING_VALUES. */
const replacing = new Set([
  'api.administratorSecret.name',
  'api.tls.secretName',
  'redis.externalUrl',
  'redis.passwordSecret.name',
  'tester.tokenSecret.name',
  'waker.keySecret.name',
]);

/** Replaces Ingresses, their class and their certificates. */
const attaching = 'ingress.parentRefs';

const NGINX_VALUES = withValue(ALL_VALUES, 'environments.access.enforcedBy', 'ingress-nginx');

test('uses every text, number, list and map', async () => {
  const marked = LEAVES.filter((leaf) => !isChoice(leaf)).map((leaf, index) => ({ leaf, ...sentinel(leaf, index) }));
  const texts = await Promise.all(
    [ALL_VALUES, EXISTING_VALUES, GATEWAY_VALUES, NGINX_VALUES].map((base) => {
      const values = marked
        .filter(({ leaf }) => (leaf.path === attaching) === (base === GATEWAY_VALUES))
        .filter(({ leaf }) => base === EXISTING_VALUES || !replacing.has(leaf.path))
        .reduce<object>((given, { leaf, value }) => withValue(given, leaf.path, value), base);
      return render(values, '--skip-schema-validation');
    }),
  );
  const unused = marked.filter(({ mark }) => !texts.some((text) => new RegExp(`\\b${mark}\\b`).test(text)));
  expect(unused.map(({ leaf }) => leaf.path)).toEqual([]);
});

/** Removes what is random in each rendering. */
const withoutRandom = (text: string) => text.replace(/[A-Za-z0-9]{40}/g, '');

/** Returns values without those that the choice at the path excludes. */
function withoutExcluding(path: string): object {
  if (path === 'api.registration.provesAddress') return withValue(ALL_VALUES, 'api.oidc.issuer', '');
  if (path === 'metrics.podMonitor.enabled') return withValue(ALL_VALUES, 'metrics.serviceMonitor.enabled', false);
  return ALL_VALUES;
}

test('renders differently for every choice', async () => {
  const choices = LEAVES.filter(isChoice);
  const base = withoutRandom(await render(ALL_VALUES, '--skip-schema-validation'));
  const unused: string[] = [];
  for (const { path, schema, preset } of choices) {
    const now = valueAt(ALL_VALUES, path) ?? preset;
    const value = schema.enum ? schema.enum.find((one) => one !== now) : now !== true;
    const values = withoutExcluding(path);
    const text = withoutRandom(await render(withValue(values, path, value), '--skip-schema-validation'));
    if (text === base) unused.push(path);
  }
  expect(unused).toEqual([]);
});
