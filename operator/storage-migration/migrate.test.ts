import { expect, test } from '@jest/globals';
import { ApiError, apiErrorFrom } from '../../kubernetes/api-error.ts';
import { systemClock } from '../../kubernetes/clock.ts';
import type { ClusterClient } from '../../kubernetes/client.ts';
import type { CustomResourceDefinition } from '../../kubernetes/resource-type.ts';
import { migrateStorage } from './migrate.ts';
import { storageMigrationOf } from './plan.ts';

const name = 'environments.coppice.dev';
const apiVersion = 'coppice.dev/v1beta1';

function definition(storedVersions: string[]): CustomResourceDefinition {
  const version = (version: string, storage: boolean) => ({ name: version, served: true, storage });
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name, resourceVersion: '7' },
    spec: {
      group: 'coppice.dev',
      scope: 'Namespaced',
      names: { kind: 'Environment', plural: 'environments' },
      versions: [version('v1alpha1', false), version('v1beta1', true)],
    },
    status: { storedVersions },
  };
}

/** A cluster with these environments; a write of a name in `refusals` is refused with its code. */
function cluster(storedVersions: string[], names: string[], refusals: Record<string, number> = {}) {
  const writes: string[] = [];
  const client = {
    get: () => Promise.resolve(definition(storedVersions)),
    list: () =>
      Promise.resolve({
        items: names.map((one) => ({
          apiVersion,
          kind: 'Environment',
          metadata: { namespace: 'group-acme', name: one },
        })),
        resourceVersion: '9',
      }),
    patchStatus: ({ plural, version }, at, patch, options) => {
      const code = refusals[at.name];
      if (code !== undefined) return Promise.reject(apiErrorFrom(`PATCH ${at.name}`, code, undefined));
      const condition = options?.resourceVersion === undefined ? '' : ` if ${options.resourceVersion}`;
      writes.push(`${plural}/${version} ${at.name} ${JSON.stringify(patch)}${condition}`);
      return Promise.resolve({ apiVersion, kind: '', metadata: { name: at.name } });
    },
  } as Pick<ClusterClient, 'get' | 'list' | 'patchStatus'>;
  const lines: string[] = [];
  const run = (signal = new AbortController().signal) =>
    migrateStorage({
      ...{ client, definitions: [name], report: (line: string) => lines.push(line), clock: systemClock, signal },
      propagationMs: 0,
    });
  return { writes, lines, run };
}

test('plans nothing while only the current version was stored', () => {
  expect(storageMigrationOf(definition(['v1beta1']))).toBeUndefined();
  expect(storageMigrationOf({ ...definition([]), status: undefined })).toBeUndefined();
  expect(storageMigrationOf(definition(['v1alpha1', 'v1beta1']))).toEqual({
    type: { group: 'coppice.dev', version: 'v1beta1', kind: 'Environment', plural: 'environments', namespaced: true },
    obsolete: ['v1alpha1'],
  });
});

test('writes nothing where nothing is to be migrated', async () => {
  const { writes, lines, run } = cluster(['v1beta1'], ['one']);
  await run();
  expect(writes).toEqual([]);
  expect(lines).toEqual([`${name}: all objects are stored in the current version`]);
});

test('writes each object in the current version, then records it unless the definition has changed', async () => {
  const { writes, lines, run } = cluster(['v1alpha1', 'v1beta1'], ['one', 'two']);
  await run();
  expect(writes).toEqual([
    'environments/v1beta1 one {}',
    'environments/v1beta1 two {}',
    `customresourcedefinitions/v1 ${name} {"status":{"storedVersions":["v1beta1"]}} if 7`,
  ]);
  expect(lines).toEqual([`${name}: 2 objects are stored in v1beta1, none in v1alpha1`]);
});

test('passes over objects that are deleted meanwhile', async () => {
  const { writes, run } = cluster(['v1alpha1', 'v1beta1'], ['gone', 'two'], { gone: 404 });
  await run();
  expect(writes).toHaveLength(2);
});

test('keeps the former version recorded while an object cannot be written, and names it', async () => {
  const names = Array.from({ length: 20 }, (_, index) => `e${index}`);
  const { writes, run } = cluster(['v1alpha1', 'v1beta1'], names, { e3: 422, e7: 403 });
  await expect(run()).rejects.toThrow(
    /^2 of 20 environments could not be written.*\ngroup-acme\/e3: .*422.*\ngroup-acme\/e7: .*403/,
  );
  expect(writes).toHaveLength(18);
});

test('fails if the definition has changed meanwhile', async () => {
  const { run } = cluster(['v1alpha1', 'v1beta1'], ['one'], { [name]: 409 });
  await expect(run()).rejects.toBeInstanceOf(ApiError);
});

test('records nothing after its time has passed', async () => {
  const { writes, run } = cluster(['v1alpha1', 'v1beta1'], ['one'], { one: 500 });
  await expect(run(AbortSignal.abort(new Error('late')))).rejects.toThrow('late');
  expect(writes).toEqual([]);
});
