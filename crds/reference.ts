import type { customResourceDefinitions } from './crd.ts';

/** A schema as a CustomResourceDefinition has it. */
interface Schema {
  type?: string;
  description?: string;
  default?: unknown;
  enum?: unknown[];
  format?: string;
  pattern?: string;
  minimum?: number;
  maximum?: number;
  minLength?: number;
  maxLength?: number;
  minItems?: number;
  maxItems?: number;
  required?: string[];
  properties?: Record<string, Schema>;
  items?: Schema;
  additionalProperties?: Schema;
  'x-kubernetes-validations'?: { rule: string; message?: string }[];
}

type Definition = ReturnType<typeof customResourceDefinitions>[number]['definition'];

interface Names {
  kind: string;
  plural: string;
  shortNames: string[];
}

interface Spec {
  group: string;
  scope: string;
  names: Names;
  versions: { name: string; schema: { openAPIV3Schema: Schema } }[];
}

/** The page of one kind: each field of its spec and status, as the CustomResourceDefinition has it. Markdown. */
export function referencePage(definition: Definition): string {
  const { group, scope, names, versions } = definition['spec'] as Spec;
  const [version] = versions;
  if (!version) throw new Error(`${names.kind} has no version`);
  const schema = version.schema.openAPIV3Schema;
  const { spec = {}, status = {} } = schema.properties ?? {};
  return [
    `<!-- Generated from crds/ by \`npm run generate\`; do not edit. -->`,
    `# ${names.kind}`,
    schema.description ?? '',
    `\`apiVersion: ${group}/${version.name}\`, ${scope === 'Cluster' ? 'cluster-scoped' : 'namespaced'}; ` +
      `\`kubectl get ${names.plural}.${group}\`, short ${names.shortNames.map((name) => `\`${name}\``).join(', ')}.`,
    ...rules(schema),
    '## spec',
    ...rules(spec),
    table('spec', spec),
    '## status',
    'Written by Coppice alone.',
    table('status', status),
    '',
  ].join('\n\n');
}

/** What is to hold of several fields together. */
function rules(schema: Schema): string[] {
  const messages = (schema['x-kubernetes-validations'] ?? []).flatMap(({ message }) => message ?? []);
  return messages.length === 0 ? [] : [messages.map((message) => `- ${text(message)}`).join('\n')];
}

function table(path: string, schema: Schema): string {
  const rows = fieldsOf(path, schema).map((cells) => `| ${cells.join(' | ')} |`);
  return ['| field | type | |', '| --- | --- | --- |', ...rows].join('\n');
}

function fieldsOf(path: string, schema: Schema): string[][] {
  return Object.entries(schema.properties ?? {}).flatMap(([name, field]) => {
    const at = `${path}.${name}`;
    const isRequired = schema.required?.includes(name) === true && field.default === undefined;
    const row = [`\`${at.slice(at.indexOf('.') + 1)}\``, typeOf(field), remarks(field, isRequired)];
    const { place, inner } = within(at, field);
    return [row, ...fieldsOf(place, inner)];
  });
}

/** Where the fields of a list's items, or of a map's values, are. */
function within(at: string, field: Schema): { place: string; inner: Schema } {
  if (field.items) return within(`${at}[]`, field.items);
  if (field.additionalProperties) return within(`${at}.*`, field.additionalProperties);
  return { place: at, inner: field };
}

function typeOf(field: Schema): string {
  if (field.items) return `list of ${typeOf(field.items)}`;
  if (field.additionalProperties) return `map of ${typeOf(field.additionalProperties)}`;
  return field.format === 'date-time' ? 'time' : (field.type ?? 'any');
}

function remarks(field: Schema, isRequired: boolean): string {
  const innermost = within('', field).inner;
  const choices = innermost.enum?.map((value) => `\`${String(value)}\``).join(', ');
  const parts = [
    isRequired ? '**Required.**' : '',
    field.description === undefined ? '' : text(field.description),
    choices === undefined ? '' : `One of ${choices}.`,
    field.default === undefined ? '' : `Default: \`${JSON.stringify(field.default)}\`.`,
    ...bounds(field),
    ...(field['x-kubernetes-validations'] ?? []).map(({ message, rule }) => `Else: «${text(message ?? rule)}».`),
  ];
  return parts.filter((part) => part !== '').join(' ');
}

/** A longer one tells a reader nothing. */
const longestPattern = 60;

function bounds(field: Schema): string[] {
  const { minimum, maximum, maxLength, maxItems, pattern } = field;
  return [
    minimum === undefined ? '' : `At least ${minimum}.`,
    maximum === undefined ? '' : `At most ${maximum}.`,
    maxLength === undefined ? '' : `At most ${maxLength} characters.`,
    maxItems === undefined ? '' : `At most ${maxItems}.`,
    pattern === undefined || pattern.length > longestPattern ? '' : `Matches \`${text(pattern)}\`.`,
  ];
}

/** On one line, with nothing that ends a cell of a table. */
function text(words: string): string {
  return words.replace(/\s+/g, ' ').replaceAll('|', '\\|');
}
