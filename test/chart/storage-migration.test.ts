import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from '@jest/globals';
import { stringify } from 'yaml';
import { VERSION_STEPS, type Versions } from '../../crds/versions.ts';
import { run } from '../support/run.ts';
import { writeChart } from '../release/versioned-chart.ts';
import { toolPath } from '../cluster/go/programs.ts';
import { objectOf, objectsIn, render, type Rendered } from './render.ts';
import { ALL_VALUES } from './sample-values.ts';

const scratch = mkdtempSync(join(tmpdir(), 'versions-'));
const name = 'coppice-storage-migration';

afterAll(() => rmSync(scratch, { recursive: true }));

async function migrationOf(step: string, versions: Versions): Promise<Rendered[]> {
  const chart = writeChart(versions, join(scratch, step));
  const args = ['template', 'coppice', chart, '--namespace', 'coppice-system', '--values', '-'];
  const objects = objectsIn(await run(toolPath('helm'), args, { input: stringify(ALL_VALUES) }));
  return objects.filter((object) => object.metadata.name === name);
}

test('this release stores one version, and migrates nothing', async () => {
  expect(await render(ALL_VALUES)).not.toContain('storage-migration');
});

test.each(['both', 'beta'] as const)('a release with two versions (%s) rewrites stored objects', async (step) => {
  const objects = await migrationOf(step, VERSION_STEPS[step]);
  expect(objects.map(({ kind }) => kind).sort()).toEqual([
    ...['ClusterRole', 'ClusterRoleBinding', 'Job', 'NetworkPolicy', 'ServiceAccount'],
  ]);
  for (const { kind, metadata } of objects.filter((one) => one.kind !== 'NetworkPolicy')) {
    expect(metadata['annotations']).toEqual({
      'helm.sh/hook': 'post-install,post-upgrade,post-rollback',
      'helm.sh/hook-weight': kind === 'Job' ? '0' : '-1',
      'helm.sh/hook-delete-policy': 'before-hook-creation,hook-succeeded',
    });
  }
  const kinds = ['environments', 'groups', 'repositories', 'reusableenvironments'];
  const resourceNames = kinds.map((plural) => `${plural}.coppice.dev`);
  expect(objectOf(objects, 'ClusterRole', name)['rules']).toEqual([
    { apiGroups: ['apiextensions.k8s.io'], resources: ['customresourcedefinitions'], resourceNames, verbs: ['get'] },
    {
      apiGroups: ['apiextensions.k8s.io'],
      resources: ['customresourcedefinitions/status'],
      resourceNames,
      verbs: ['patch'],
    },
    { apiGroups: ['coppice.dev'], resources: kinds, verbs: ['list'] },
    { apiGroups: ['coppice.dev'], resources: kinds.map((plural) => `${plural}/status`), verbs: ['patch'] },
  ]);
});
