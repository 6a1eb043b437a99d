import { join } from 'node:path';
import { parseAllDocuments, stringify } from 'yaml';
import { z } from 'zod';
import { REPOSITORY_ROOT } from '../support/paths.ts';
import { toolPath } from '../cluster/go/programs.ts';
import { run } from '../support/run.ts';

export const CHART = join(REPOSITORY_ROOT, 'charts/coppice');

const objectSchema = z.looseObject({
  apiVersion: z.string(),
  kind: z.string(),
  metadata: z.looseObject({ name: z.string(), namespace: z.string().optional() }),
});
export type Rendered = z.infer<typeof objectSchema>;

/** Renders all templates with these values; `flags` are Helm's. Throws with Helm's message. */
export function render(values: object, ...flags: string[]): Promise<string> {
  const args = ['template', 'coppice', CHART, '--namespace', 'coppice-system', '--values', '-', ...flags];
  return run(toolPath('helm'), args, { input: stringify(values) });
}

/** Returns the objects of a multi-document YAML text. */
export function objectsIn(text: string): Rendered[] {
  return parseAllDocuments(text)
    .map((document) => document.toJS({ mapAsMap: false }) as unknown)
    .filter((value) => value !== null)
    .map((value) => objectSchema.parse(value));
}

/** Returns the chart's objects, except the long CustomResourceDefinitions. */
export async function renderObjects(values: object): Promise<Rendered[]> {
  return objectsIn(await render(values, '--set', 'crds.enabled=false'));
}

/** Returns the only object of this kind and name. */
export function objectOf(objects: readonly Rendered[], kind: string, name: string): Rendered {
  const found = objects.filter((object) => object.kind === kind && object.metadata.name === name);
  if (found.length !== 1 || !found[0]) throw new Error(`there are ${found.length} of ${kind} ${name}`);
  return found[0];
}
