import type { customResourceDefinitions } from './crd.ts';

/** A schema in a CustomResourceDefinition. */
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

/** Returns the reference page of one kind, in Markdown: every field of its spec and status. */
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
    table('spec', spec, remarks),
    '## status',
    'Written by Coppice only. [Conditions](environment-lifecycle.md#conditions).',
    table('status', status, statusRemarks),
    '',
  ].join('\n\n');
}

/** Returns the validation rules that concern several fields. */
function rules(schema: Schema): string[] {
  const messages = (schema['x-kubernetes-validations'] ?? []).flatMap(({ message }) => message ?? []);
  return messages.length === 0 ? [] : [messages.map((message) => `- ${text(message)}`).join('\n')];
}

type Remarks = (field: Schema, isRequired: boolean) => string;

function table(path: string, schema: Schema, remarksOf: Remarks): string {
  const rows = fieldsOf(path, schema, remarksOf, new Map()).map((cells) => `| ${cells.join(' | ')} |`);
  return ['| field | type | |', '| --- | --- | --- |', ...rows].join('\n');
}

/** @param known where the fields of an object's schema are listed already, so that they are not repeated. */
function fieldsOf(path: string, schema: Schema, remarksOf: Remarks, known: Map<string, string>): string[][] {
  return Object.entries(schema.properties ?? {}).flatMap(([name, field]) => {
    const at = `${path}.${name}`;
    const own = at.slice(at.indexOf('.') + 1);
    const isRequired = schema.required?.includes(name) === true && field.default === undefined;
    const { location, inner } = within(at, field);
    const fields = JSON.stringify(inner.properties);
    const same = inner.properties && Object.keys(inner.properties).length > 1 ? known.get(fields) : undefined;
    if (inner.properties && !known.has(fields)) known.set(fields, own);
    const row = (remark: string) => [`\`${own}\``, typeOf(field), remark];
    const remark = remarksOf(field, isRequired);
    if (same !== undefined) return [row(`${remark} Fields as of \`${same}\`.`.trim())];
    return isConditions(inner) ? [row(remark)] : [row(remark), ...fieldsOf(location, inner, remarksOf, known)];
  });
}

/** Returns whether these are the fields of Kubernetes' conditions, which every kind has. */
function isConditions({ properties = {} }: Schema): boolean {
  return 'reason' in properties && 'lastTransitionTime' in properties;
}

/** Returns the path and schema of a list's items or a map's values. */
function within(at: string, field: Schema): { location: string; inner: Schema } {
  if (field.items) return within(`${at}[]`, field.items);
  if (field.additionalProperties) return within(`${at}.*`, field.additionalProperties);
  return { location: at, inner: field };
}

function typeOf(field: Schema): string {
  if (field.items) return `list of ${typeOf(field.items)}`;
  if (field.additionalProperties) return `map of ${typeOf(field.additionalProperties)}`;
  return field.format === 'date-time' ? 'time' : (field.type ?? 'any');
}

/** Only Coppice writes a status, so its bounds do not matter to readers. */
function statusRemarks(field: Schema): string {
  const described = field.description === undefined ? [] : [text(field.description)];
  return [...described, ...choicesOf(field)].join(' ');
}

function choicesOf(field: Schema): string[] {
  const choices = within('', field)
    .inner.enum?.map((value) => `\`${String(value)}\``)
    .join(', ');
  return choices === undefined ? [] : [`One of ${choices}.`];
}

function remarks(field: Schema, isRequired: boolean): string {
  const parts = [
    isRequired ? 'Required.' : '',
    field.description === undefined ? '' : text(field.description),
    ...choicesOf(field),
    field.default === undefined ? '' : `Default: \`${JSON.stringify(field.default)}\`.`,
    ...bounds(field),
    ...(field['x-kubernetes-validations'] ?? []).map(({ message, rule }) => `Error: "${text(message ?? rule)}".`),
  ];
  return [...new Set(parts)].filter((part) => part !== '').join(' ');
}

/** Longer patterns are not readable and are omitted. */
const maxPattern = 60;

function bounds(field: Schema): string[] {
  const { minimum, maximum, maxLength, maxItems, pattern } = field;
  return [
    range(minimum, maximum),
    maxLength === undefined ? '' : `≤ ${maxLength} characters.`,
    maxItems === undefined ? '' : `≤ ${maxItems} items.`,
    pattern === undefined || pattern.length > maxPattern ? '' : `Matches \`${text(pattern)}\`.`,
  ];
}

function range(minimum?: number, maximum?: number): string {
  if (minimum !== undefined && maximum !== undefined) return `${minimum} to ${maximum}.`;
  if (minimum !== undefined) return `≥ ${minimum}.`;
  return maximum === undefined ? '' : `≤ ${maximum}.`;
}

/** Returns the text on one line, escaped for a table cell. */
function text(words: string): string {
  return words.replace(/\s+/g, ' ').replaceAll('|', '\\|');
}
