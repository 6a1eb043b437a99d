// Generates the chart's README.md from values.yaml and values.schema.json: `npm run generate`.
import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parse } from 'yaml';
import { z } from 'zod';
import { formatted } from '../../oxfmt.config.ts';
import { ENTRIES, isLeaf, resolved, type Group, type Leaf, type ValueSchema } from './leaves.ts';
import { CHART } from './render.ts';

export const README_PAGE = join(CHART, 'README.md');

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

const markdownOf = (words = '') => words.replaceAll('<', '\\<').replaceAll('|', '\\|');

function rowOf(entry: Group | Leaf): string {
  if (!isLeaf(entry)) return `| \`${entry.path}\` | group | | ${markdownOf(entry.description)} |`;
  const { path, schema, preset } = entry;
  return `| \`${path}\` | ${typeOf(schema)} | ${presetOf(preset)} | ${markdownOf(schema.description)} |`;
}

/** Returns Markdown with one table for each part of the values, below headings of this level and the part's description. */
function tables(level: string): string[] {
  const parts = Map.groupBy(ENTRIES, ({ path }) => path.split('.')[0] ?? '');
  return [...parts].map(([part, entries]) => {
    const [whole, ...below] = entries;
    const [introduction, rows] =
      whole === undefined || isLeaf(whole) ? [[], entries] : [[markdownOf(whole.description)], below];
    const table = ['| value | type | default | effect |', '|---|---|---|---|', ...rows.map(rowOf)].join('\n');
    return [`${level} ${part}`, ...introduction, table].join('\n\n');
  });
}

const head = '<!-- Generated from charts/coppice by `npm run generate`; do not edit. -->';

/** Returns the chart's README, which `helm show readme` prints. */
export function readmeText(): Promise<string> {
  const { description, kubeVersion } = z
    .object({ description: z.string(), kubeVersion: z.string() })
    .parse(parse(readFileSync(join(CHART, 'Chart.yaml'), 'utf8')));
  return formatted(
    README_PAGE,
    [
      head,
      '# coppice',
      `${description}. Needs Kubernetes ${kubeVersion}, a CNI that enforces NetworkPolicies, an Ingress controller, and a ` +
        'registry. `docs/how-to/install.md` in the repository, whose address `helm show chart` prints, says what to set.',
      '## Install',
      '```yaml\n# values.yaml\n' +
        'image: { repository: registry.example.com/coppice, tag: "1.0" } # only with the chart of a checkout\n' +
        'api: { url: https://coppice.example.org, administrators: [you@example.org] }\n' +
        'environments: { url: https://env.example.com }\n' +
        'registry: { address: registry.example.com, credentialsSecret: registry-credentials }\n```',
      'A release is in a registry, and names its images. From a checkout, the chart is `charts/coppice`, without `--version`. ' +
        'Create the namespace first, and in it the Secret `registry-credentials` with the keys `username` and `password`.',
      '```sh\nhelm install coppice oci://REGISTRY/charts/coppice --version VERSION \\\n  --namespace coppice-system --values values.yaml --wait\n' +
        'helm test coppice --namespace coppice-system\n```',
      "A cluster holds one release: definitions, roles and policies are the whole cluster's. A second one is refused.",
      '## Values',
      'Other names, and values of another type or form, are refused before anything is installed (`values.schema.json`).',
      ...tables('###'),
    ].join('\n\n'),
  );
}

if (process.argv[1] === import.meta.filename) {
  await writeFile(README_PAGE, await readmeText());
}
