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

type Fields = NonNullable<Schema['properties']>;

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

/** Fields of a status that only the operator uses, to remember what it has done. The pages leave them out. */
const internalFields: ReadonlySet<string> = new Set([
  'activation',
  'ttl',
  'schedule',
  'seed',
  'publication',
  'feedback',
  'handledRequests',
  'build.previous',
  'hostRepository',
]);

/** Returns the reference page of one kind, in Markdown: the fields of its spec and status, without internal ones. */
export function referencePage(definition: Definition): string {
  const { group, scope, names, versions } = definition['spec'] as Spec;
  const [version] = versions;
  if (!version)
    throw new Error(`the CRD of ${names.kind} has no version, so its page cannot be written. Add one in crds/`);
  const schema = version.schema.openAPIV3Schema;
  const { spec = {}, status = {} } = schema.properties ?? {};
  return [
    `<!-- Generated from crds/ by \`npm run generate\`; do not edit. -->`,
    `# ${names.kind} fields`,
    `${schema.description ?? ''} \`kubectl explain ${names.plural}.${group} --recursive\` lists all fields.`,
    `\`apiVersion: ${group}/${version.name}\`, ${scope === 'Cluster' ? 'cluster-scoped' : 'namespaced'}, ` +
      `short name ${names.shortNames.map((name) => `\`${name}\``).join(', ')}.`,
    rulesOf(schema).join(' '),
    '## spec',
    list('spec', spec, { internal: new Set(), bounds, remarks }),
    '## status',
    'Only Coppice writes the status. [Conditions](../environment-lifecycle.md#conditions) lists types and reasons. ' +
      'Fields that only the operator uses are left out.',
    list('status', status, { internal: internalFields, bounds: () => [], remarks: statusRemarks }),
    '',
  ].join('\n\n');
}

/** How the fields of spec or status are listed. */
interface Part {
  /** Paths of fields that are not listed. */
  internal: ReadonlySet<string>;
  /** Returns the texts after the field's type. */
  bounds: (field: Schema, isRequired: boolean) => string[];
  /** Sentences about the field. */
  remarks: (field: Schema) => string[];
}

/** Returns a list as in the API reference of Kubernetes; a table of long descriptions is hard to read. */
function list(path: string, schema: Schema, part: Part): string {
  return fieldsOf(path, schema, part, new Map()).join('\n');
}

/** @param known objects whose fields are listed already, so that these are not repeated. */
function fieldsOf(path: string, schema: Schema, part: Part, known: Map<string, Fields>): string[] {
  return Object.entries(schema.properties ?? {}).flatMap(([name, field]) => {
    const at = `${path}.${name}`;
    const own = at.slice(at.indexOf('.') + 1);
    if (part.internal.has(own)) return [];
    const isRequired = schema.required?.includes(name) === true && field.default === undefined;
    const { location, inner } = within(at, field);
    const same = sameFields(inner, known);
    if (inner.properties && !same) known.set(own, inner.properties);
    const type = [typeOf(field), ...part.bounds(field, isRequired)].join(', ');
    const item = (remark: string) => `- \`${own}\` (${type})${remark === '' ? '' : `: ${remark}`}`;
    const remark = part.remarks(field).join(' ');
    if (same !== undefined) return [item(`${remark} ${same}`.trim())];
    return isConditions(inner) ? [item(remark)] : [item(remark), ...fieldsOf(location, inner, part, known)];
  });
}

/** Returns a sentence that refers to an object with the same fields, or with these and more; undefined if there is none. */
function sameFields({ properties }: Schema, known: ReadonlyMap<string, Fields>): string | undefined {
  const entries = Object.entries(properties ?? {});
  if (entries.length < 2) return undefined;
  for (const [own, fields] of known) {
    if (JSON.stringify(fields) === JSON.stringify(properties)) return `Fields as of \`${own}\`.`;
    if (entries.length < 4 || entries.some(([name, { type }]) => fields[name]?.type !== type)) continue;
    return `Fields ${entries.map(([name]) => `\`${name}\``).join(', ')} as of \`${own}\`.`;
  }
  return undefined;
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
function statusRemarks(field: Schema): string[] {
  return [...(field.description === undefined ? [] : [text(field.description)]), ...choicesOf(field)];
}

function choicesOf(field: Schema): string[] {
  const choices = within('', field)
    .inner.enum?.map((value) => `\`${String(value)}\``)
    .join(', ');
  return choices === undefined ? [] : [`One of ${choices}.`];
}

function remarks(field: Schema): string[] {
  const rules = [...rulesOf(field), ...(field.items ? rulesOf(field.items) : [])];
  return [...statusRemarks(field), ...(rules.length > 0 ? rules : patternsOf(field))];
}

/** Longer patterns are not readable and are omitted. */
const maxPattern = 60;

function patternsOf({ pattern }: Schema): string[] {
  return pattern === undefined || pattern.length > maxPattern ? [] : [`Matches \`${pattern}\`.`];
}

/** Longer texts are practically unlimited. */
const maxShownLength = 200;

function bounds(field: Schema, isRequired: boolean): string[] {
  const { minimum, maximum, maxLength, maxItems } = field;
  return [
    isRequired ? 'required' : '',
    field.default === undefined ? '' : `default \`${JSON.stringify(field.default)}\``,
    range(minimum, maximum),
    maxLength === undefined || maxLength > maxShownLength ? '' : `≤ ${maxLength} characters`,
    maxItems === undefined ? '' : `≤ ${maxItems} items`,
  ].filter((bound) => bound !== '');
}

function range(minimum?: number, maximum?: number): string {
  if (minimum !== undefined && maximum !== undefined) return `${minimum} to ${maximum}`;
  if (minimum !== undefined) return `≥ ${minimum}`;
  return maximum === undefined ? '' : `≤ ${maximum}`;
}

/** Returns the messages of the validation rules, each once. */
function rulesOf(schema: Schema): string[] {
  const rules = schema['x-kubernetes-validations'] ?? [];
  return [...new Set(rules.map(({ message, rule }) => ruleText(message ?? rule)))];
}

/** Returns the message of a validation rule as a sentence about the field. */
function ruleText(message: string): string {
  if (message.includes('cannot be changed')) return 'Immutable.';
  const rule = text(message).replace(/^is not /, 'must be ');
  return `${rule.charAt(0).toUpperCase()}${rule.slice(1)}.`;
}

/** Returns the text on one line. */
function text(words: string): string {
  return words.replace(/\s+/g, ' ');
}
