import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parse } from 'yaml';
import { ENVIRONMENT, type Environment } from '../../crds/environment.ts';
import type { ClusterClient } from '../../kubernetes/client.ts';
import { CustomResourceDefinition, type ResourceType } from '../../kubernetes/resource-type.ts';
import { eventually, randomName } from './api-server.ts';

const definitions = join(import.meta.dirname, '../../charts/coppice/files/crds');

/** Returns the kind Environment in an API group of the test, which no operator watches. */
export function environmentTypeOf(purpose: string): ResourceType<Environment> {
  return { ...ENVIRONMENT, group: `${randomName(purpose)}.example.org` };
}

/** Creates one of Coppice's kinds in another API group, with the chart's schema; waits until it is served. */
export async function createOwnType(client: ClusterClient, type: ResourceType): Promise<void> {
  const definition = parse(
    await readFile(join(definitions, `${type.plural}.yaml`), 'utf8'),
  ) as CustomResourceDefinition;
  definition.metadata = { name: `${type.plural}.${type.group}` };
  const { names } = definition.spec;
  definition.spec.group = type.group;
  definition.spec.names = { plural: names.plural, singular: names.singular, kind: names.kind };
  await client.create(CustomResourceDefinition, definition);
  await eventually(() => client.list(type), 'the API server serves the type');
}
