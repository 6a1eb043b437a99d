import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { parseAllDocuments, stringify } from 'yaml';
import { z } from 'zod';
import { repositoryRoot } from '../cluster/paths.ts';
import { programPath } from '../cluster/programs.ts';
import { run } from '../cluster/run.ts';

export const chart = join(repositoryRoot, 'charts/coppice');

/** As findCommandLineTools would find them, once `up` has: no test builds a program. */
export function program(name: 'helm' | 'kubectl'): string {
  return existsSync(programPath(name)) ? programPath(name) : name;
}

const objectSchema = z.looseObject({
  apiVersion: z.string(),
  kind: z.string(),
  metadata: z.looseObject({ name: z.string(), namespace: z.string().optional() }),
});
export type Rendered = z.infer<typeof objectSchema>;

/** The text of all templates with these values; `flags` are Helm's. Throws with Helm's words. */
export function render(values: object, ...flags: string[]): Promise<string> {
  const args = ['template', 'coppice', chart, '--namespace', 'coppice-system', '--values', '-', ...flags];
  return run(program('helm'), args, { input: stringify(values) });
}

/** The objects of a text of several YAML documents. */
export function objectsIn(text: string): Rendered[] {
  return parseAllDocuments(text)
    .map((document) => document.toJS({ mapAsMap: false }) as unknown)
    .filter((value) => value !== null)
    .map((value) => objectSchema.parse(value));
}

/** The objects that the chart makes, but for the CustomResourceDefinitions, which are long. */
export async function renderObjects(values: object): Promise<Rendered[]> {
  return objectsIn(await render(values, '--set', 'crds.enabled=false'));
}

/** The one object of this kind and name. */
export function objectOf(objects: readonly Rendered[], kind: string, name: string): Rendered {
  const found = objects.filter((object) => object.kind === kind && object.metadata.name === name);
  if (found.length !== 1 || !found[0]) throw new Error(`there are ${found.length} of ${kind} ${name}`);
  return found[0];
}
