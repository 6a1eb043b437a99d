import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { parse, parseAllDocuments } from 'yaml';
import { z } from 'zod';
import { customResourceDefinitions } from '../../../crds/crd.ts';
import { VERSION_STEPS, type Versions } from '../../../crds/versions.ts';
import type { ClusterClient } from '../../../kubernetes/client.ts';
import { systemClock } from '../../../kubernetes/clock.ts';
import {
  CustomResourceDefinition,
  type KubernetesObject,
  type ObjectName,
  type ResourceType,
} from '../../../kubernetes/resource-type.ts';
import { migrateStorage } from '../../../operator/storage-migration/migrate.ts';
import { unpackLastChart } from '../../release/last-release.ts';
import { createNamespace, deleteNamespace, eventually, randomName, testClient, unlessNotFound } from '../api-server.ts';

// The way from v1alpha1 to v1beta1 (ADR 77) on an API server, with the definitions and objects of the last release. The kinds
// are in an API group of the test: those of a Coppice in the cluster stay as they are.

interface Stored extends KubernetesObject {
  spec?: unknown;
  status?: unknown;
}

const group = `${randomName('migration')}.example.org`;
const scratch = mkdtempSync(join(tmpdir(), 'storage-migration-'));
const kinds = customResourceDefinitions();
const definitions = kinds.map(({ plural }) => `${plural}.${group}`);
const objects = parseAllDocuments(readFileSync(join(import.meta.dirname, 'v1alpha1-objects.yaml'), 'utf8')).map(
  (document) => document.toJS() as Stored,
);
const lines: string[] = [];
let client: ClusterClient;
let namespace: string;

const definitionSchema = z.looseObject({
  metadata: z.looseObject({ name: z.string() }),
  spec: z.looseObject({ group: z.string(), names: z.looseObject({}), scope: z.string() }),
});

/** Returns a definition for the group of the test; short names and categories would be those of Coppice. */
function ofTest(plural: string, definition: unknown): CustomResourceDefinition {
  const { spec, ...rest } = definitionSchema.parse(definition);
  const names = { ...spec.names, shortNames: undefined, categories: undefined };
  const object = { ...rest, metadata: { name: `${plural}.${group}` }, spec: { ...spec, group, names } };
  return object as unknown as CustomResourceDefinition;
}

function typeOf(kind: string, version: string): ResourceType<Stored> {
  const found = kinds.find((one) => one.kind === kind);
  if (!found) throw new Error(`there is no kind ${kind}`);
  return { group, version, kind, plural: found.plural, namespaced: kind !== 'Group' };
}

const nameOf = (object: Stored): ObjectName => ({
  ...(object.kind !== 'Group' && { namespace }),
  name: object.metadata.name,
});

/** Applies the definitions of a step, as an upgrade does; waits until the API server serves each version as they say. */
async function apply(versions: Versions): Promise<void> {
  for (const { plural, definition } of customResourceDefinitions(versions)) {
    await client.apply(CustomResourceDefinition, ofTest(plural, definition), { fieldManager: 'helm', force: true });
  }
  await eventually(async () => {
    for (const { kind } of kinds) {
      for (const version of versions.served) await client.list(typeOf(kind, version));
    }
    for (const stored of await storedVersions()) {
      if (!stored.includes(versions.stored)) throw new Error('the stored version is the former one');
    }
  }, 'the versions are served');
}

const storedVersions = async () =>
  Promise.all(
    definitions.map(
      async (name) => (await client.get(CustomResourceDefinition, { name })).status?.storedVersions ?? [],
    ),
  );

const migrate = () =>
  migrateStorage({
    client,
    definitions,
    report: (line) => lines.push(line),
    clock: systemClock,
    signal: AbortSignal.timeout(30_000),
    propagationMs: 1000,
  });

/** Returns the objects by a version, without what names it. */
const objectsBy = (version: string) =>
  Promise.all(
    objects.map(async (object) => {
      const { metadata, spec, status } = await client.get(typeOf(object.kind, version), nameOf(object));
      const { resourceVersion, ...rest } = metadata;
      return { content: { metadata: rest, spec, status }, resourceVersion };
    }),
  );

/** Returns what the objects contain; `managedFields` keep the version in which a field was last written. */
const contentsBy = async (version: string) => (await objectsBy(version)).map(({ content }) => content);
const resourceVersions = async () => (await objectsBy('v1alpha1')).map(({ resourceVersion }) => resourceVersion);

beforeAll(async () => {
  client = testClient();
  namespace = await createNamespace(client);
  const last = await unpackLastChart(scratch);
  for (const { kind, plural } of kinds) {
    const text = readFileSync(join(last, 'files/crds', `${plural}.yaml`), 'utf8');
    await client.create(CustomResourceDefinition, ofTest(plural, parse(text)));
    await eventually(() => client.list(typeOf(kind, 'v1alpha1')), `the API server serves ${kind}`);
  }
  for (const object of objects) {
    const type = typeOf(object.kind, 'v1alpha1');
    const at = nameOf(object);
    const sent = { ...object, apiVersion: `${group}/v1alpha1`, metadata: { ...object.metadata, ...at } };
    const made = await client.apply(type, { ...sent, status: undefined }, { fieldManager: 'flux' });
    await client.patchStatus(type, at, { status: object.status });
    const { status } = await client.get(type, at);
    // No field of the file is unknown to the last release, whose API server would drop it.
    expect({ spec: made.spec, status }).toMatchObject({ spec: object.spec, status: object.status });
  }
  await client.delete(typeOf('Environment', 'v1alpha1'), { namespace, name: 'shop-empty' });
});

afterAll(async () => {
  const at = { namespace, name: 'shop-empty' };
  await client.patch(typeOf('Environment', 'v1beta1'), at, { metadata: { finalizers: null } }).catch(unlessNotFound);
  for (const name of definitions) await client.delete(CustomResourceDefinition, { name }).catch(unlessNotFound);
  await deleteNamespace(client, namespace);
  client.close();
  rmSync(scratch, { recursive: true });
});

describe('from v1alpha1 to v1beta1', () => {
  test('the definitions of this release change nothing that the last release stored', async () => {
    const before = await contentsBy('v1alpha1');
    await apply(VERSION_STEPS.alpha);
    expect(await contentsBy('v1alpha1')).toEqual(before);
  });

  test('serves the objects in both versions, and leaves them where they are stored', async () => {
    const before = await contentsBy('v1alpha1');
    await apply(VERSION_STEPS.both);
    expect(await contentsBy('v1alpha1')).toEqual(before);
    expect(await contentsBy('v1beta1')).toEqual(before);
    const versions = await resourceVersions();
    await migrate();
    expect(await resourceVersions()).toEqual(versions);
    expect(await storedVersions()).toEqual(definitions.map(() => ['v1alpha1']));
  });

  test('permits the step back to the last release', async () => {
    await apply(VERSION_STEPS.alpha);
    await apply(VERSION_STEPS.both);
  });

  test('stores v1beta1, and refuses to drop v1alpha1 before objects are rewritten', async () => {
    await apply(VERSION_STEPS.beta);
    expect(await storedVersions()).toEqual(definitions.map(() => ['v1alpha1', 'v1beta1']));
    const only: Versions = { served: ['v1beta1'], stored: 'v1beta1', deprecated: [] };
    await expect(apply(only)).rejects.toMatchObject({ reason: 'Invalid' });
  });

  test('rewrites each object once, whatever is written meanwhile, and nobody who watches misses a change', async () => {
    const type = typeOf('Environment', 'v1alpha1');
    const { resourceVersion } = await client.list(type, { namespace });
    const before = await contentsBy('v1beta1');
    const versions = await resourceVersions();
    const at = { namespace, name: 'busy' };
    const spec = { repository: 'shop', gitRef: { name: 'busy', type: 'branch' } };
    await client.create(type, { apiVersion: `${group}/v1alpha1`, kind: type.kind, metadata: at, spec });
    const writing = (async () => {
      for (let count = 1; count <= 30; count += 1) {
        await client.patch(type, at, { metadata: { annotations: { count: String(count) } } });
      }
      await client.delete(type, at);
    })();
    await Promise.all([migrate(), writing]);
    expect(await storedVersions()).toEqual(definitions.map(() => ['v1beta1']));
    expect(await contentsBy('v1alpha1')).toEqual(before);
    expect(await contentsBy('v1beta1')).toEqual(before);
    const rewritten = await resourceVersions();
    expect(rewritten.filter((one, index) => one === versions[index])).toEqual([]);

    // The API server writes nothing if an object is stored as it should be, so that the second run proves the first one.
    const again = await Promise.all(
      objects.map((object) => client.patchStatus(typeOf(object.kind, 'v1beta1'), nameOf(object), {})),
    );
    expect(again.map(({ metadata }) => metadata.resourceVersion)).toEqual(rewritten);

    const seen: string[] = [];
    for await (const event of client.watch(type, { namespace, resourceVersion, timeoutSeconds: 1 })) {
      if (event.type !== 'BOOKMARK')
        seen.push(`${event.type} ${event.object.metadata.name} ${event.object.apiVersion}`);
    }
    expect(seen.filter((one) => !one.includes(' busy '))).toEqual(
      expect.arrayContaining(['shop-main', 'shop-empty'].map((name) => `MODIFIED ${name} ${group}/v1alpha1`)),
    );
    expect(seen).toContain(`DELETED busy ${group}/v1alpha1`);
  });

  test('warns users of v1alpha1, which still works', async () => {
    const at = { namespace, name: 'shop-main' };
    const type = typeOf('Environment', 'v1alpha1');
    const { spec } = await client.patch(type, at, { spec: { active: false } });
    expect((await client.get(typeOf('Environment', 'v1beta1'), at)).spec).toEqual(spec);
    const { spec: defined } = await client.get(CustomResourceDefinition, { name: `environments.${group}` });
    expect(
      defined.versions.map(({ name, deprecated, deprecationWarning }) => [name, deprecated, deprecationWarning]),
    ).toEqual([
      ['v1beta1', undefined, undefined],
      ['v1alpha1', true, 'coppice.dev/v1alpha1 is deprecated. Use coppice.dev/v1beta1, which has the same fields'],
    ]);
  });

  test('leads back to v1alpha1, and from there to the last release', async () => {
    const before = await contentsBy('v1beta1');
    await apply(VERSION_STEPS.both);
    await migrate();
    expect(await storedVersions()).toEqual(definitions.map(() => ['v1alpha1']));
    await apply(VERSION_STEPS.alpha);
    expect(await contentsBy('v1alpha1')).toEqual(before);
  });

  test('ends with v1beta1 alone', async () => {
    await apply(VERSION_STEPS.both);
    await apply(VERSION_STEPS.beta);
    await migrate();
    const before = await contentsBy('v1beta1');
    await apply({ served: ['v1beta1'], stored: 'v1beta1', deprecated: [] });
    expect(await contentsBy('v1beta1')).toEqual(before);
    expect(lines.at(-1)).toMatch(/^reusableenvironments\..*: 1 objects are stored in v1beta1, none in v1alpha1$/);
  });
});
