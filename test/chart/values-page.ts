// Writes docs/reference/values.md from the chart's values.yaml and values.schema.json: `npm run generate`.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { format, resolveConfig } from 'prettier';
import { repositoryRoot } from '../cluster/paths.ts';
import { leaves, resolved, type Leaf, type ValueSchema } from './leaves.ts';

export const valuesPage = join(repositoryRoot, 'docs/reference/values.md');

function typeOf(schema: ValueSchema): string {
  if (schema.enum) return schema.enum.map((one) => `\`${String(one)}\``).join(', ');
  if (schema.type === 'array') return `list of ${typeOf(resolved(schema.items ?? {}))}`;
  if (schema.type === 'object') return 'map';
  return schema.type ?? 'string';
}

function presetOf(preset: unknown): string {
  if (preset === '' || preset === undefined) return '';
  const text = JSON.stringify(preset);
  return text.length > 60 ? 'see values.yaml' : `\`${text.replace(/^"(.*)"$/, '$1')}\``;
}

function rowOf({ path, schema, preset }: Leaf): string {
  const words = (schema.description ?? '').replaceAll('<', '\\<').replaceAll('|', '\\|');
  return `| \`${path}\` | ${typeOf(schema)} | ${presetOf(preset)} | ${words} |`;
}

/** Markdown: one table for each part of the values. */
export async function valuesText(): Promise<string> {
  const parts = Map.groupBy(leaves, ({ path }) => path.split('.')[0] ?? '');
  const sections = [...parts].map(
    ([part, rows]) => `## ${part}\n\n| value | type | default | |\n|---|---|---|---|\n${rows.map(rowOf).join('\n')}\n`,
  );
  const text = [
    '<!-- Generated from charts/coppice by `npm run generate`; do not edit. -->',
    "# The chart's values",
    'Other names, and values of another type or form, are refused before anything is installed ' +
      '(`charts/coppice/values.schema.json`). What to set for an installation is in [installing.md](../installing.md).',
    ...sections,
  ].join('\n\n');
  return format(text, { ...(await resolveConfig(valuesPage)), parser: 'markdown' });
}

if (process.argv[1] === import.meta.filename) await writeFile(valuesPage, await valuesText());
