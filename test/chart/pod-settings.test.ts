import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { stringify } from 'yaml';
import { z } from 'zod';
import { run } from '../support/run.ts';
import { withValue } from './leaves.ts';
import { toolPath } from '../cluster/go/programs.ts';
import { CHART, objectOf, objectsIn, renderObjects, type Rendered } from './render.ts';
import { ALL_VALUES, MIN_VALUES } from './sample-values.ts';

const contextSchema = z.record(z.string(), z.unknown());
const podSchema = z.looseObject({
  securityContext: contextSchema,
  containers: z.array(z.looseObject({ securityContext: contextSchema })),
});
const templateSchema = z.looseObject({ template: z.looseObject({ spec: podSchema }) });

/** Returns the pods that a release runs, also those of `helm test`. */
function podsOf(objects: readonly Rendered[]): z.infer<typeof podSchema>[] {
  const specs = (...kinds: string[]) => objects.filter(({ kind }) => kinds.includes(kind)).map(({ spec }) => spec);
  return [
    ...specs('Deployment', 'StatefulSet').map((spec) => templateSchema.parse(spec).template.spec),
    ...specs('Pod').map((spec) => podSchema.parse(spec)),
  ];
}

test('names no user or group where the platform assigns them', async () => {
  const ids = ['runAsUser', 'runAsGroup', 'fsGroup'];
  const named = (objects: readonly Rendered[]) =>
    podsOf(objects).map(({ securityContext }) => ids.filter((id) => id in securityContext).length);
  expect(named(await renderObjects(ALL_VALUES))).toEqual([3, 3, 3, 3, 3, 3, 3, 3]);
  const values = withValue(ALL_VALUES, 'securityContext.fixedIds', false);
  expect(named(await renderObjects(values))).toEqual([0, 0, 0, 0, 0, 0, 0, 0]);
});

test('adds fields to the security contexts, and replaces theirs', async () => {
  const securityContext = {
    pod: { supplementalGroups: [7], fsGroup: 5 },
    container: { readOnlyRootFilesystem: false },
  };
  for (const pod of podsOf(await renderObjects({ ...MIN_VALUES, securityContext }))) {
    expect(pod.securityContext).toMatchObject({ runAsNonRoot: true, supplementalGroups: [7], fsGroup: 5 });
    for (const container of pod.containers) {
      expect(container.securityContext).toMatchObject({
        readOnlyRootFilesystem: false,
        allowPrivilegeEscalation: false,
      });
    }
  }
});

test('leaves the number of replicas to the autoscaler, and limits disruptions by its minimum', async () => {
  const rendered = (autoscaling: object) => renderObjects({ ...MIN_VALUES, api: { replicas: 1, autoscaling } });
  const scaled = await rendered({ enabled: true });
  expect(objectOf(scaled, 'Deployment', 'coppice-api').spec).not.toHaveProperty('replicas');
  expect(objectOf(scaled, 'HorizontalPodAutoscaler', 'coppice-api').spec).toMatchObject({
    minReplicas: 2,
    maxReplicas: 6,
    metrics: [{ resource: { target: { averageValue: '500m' } } }],
  });
  const budgets = (objects: readonly Rendered[]) =>
    objects.filter(({ kind, metadata }) => kind === 'PodDisruptionBudget' && metadata.name === 'coppice-api').length;
  expect(budgets(scaled)).toBe(1);
  expect(budgets(await rendered({ enabled: true, minReplicas: 1 }))).toBe(0);
  expect(budgets(await rendered({ enabled: false, minReplicas: 2 }))).toBe(0);
});

test('adds variables, volumes, labels and placement to the pods of each component', async () => {
  const added = z.looseObject({
    template: z.looseObject({
      metadata: z.looseObject({
        labels: z.looseObject({ team: z.literal('platform') }),
        annotations: z.looseObject({ 'example.org/a': z.literal('b') }),
      }),
      spec: z.looseObject({
        affinity: z.object({ nodeAffinity: z.object({}) }),
        topologySpreadConstraints: z.tuple([z.looseObject({ topologyKey: z.literal('topology.kubernetes.io/zone') })]),
        volumes: z.array(z.looseObject({ name: z.string() })),
        containers: z.array(
          z.looseObject({
            env: z.array(z.looseObject({ name: z.string() })),
            volumeMounts: z.array(z.looseObject({ name: z.string() })),
          }),
        ),
      }),
    }),
  });
  const pods = (await renderObjects(ALL_VALUES)).filter(({ kind }) => ['Deployment', 'StatefulSet'].includes(kind));
  expect(pods.map(({ metadata }) => metadata.name).sort()).toEqual(
    ['api', 'operator', 'redis', 'registry-tokens', 'tester', 'waker'].map((name) => `coppice-${name}`),
  );
  for (const { spec } of pods) {
    const { volumes, containers } = added.parse(spec).template.spec;
    const names = (list: { name: string }[] = []) => list.map(({ name }) => name);
    expect(names(volumes)).toContain('extra');
    expect(names(containers[0]?.volumeMounts)).toContain('extra');
    expect(names(containers[0]?.env)).toContain('NODE_OPTIONS');
  }
});

test('installs additional objects with the values in their templates', async () => {
  expect(objectOf(await renderObjects(ALL_VALUES), 'ConfigMap', 'extra')).toMatchObject({
    metadata: { namespace: 'coppice-system' },
    data: { api: 'https://coppice.example.org' },
  });
});

test('does not restart Redis in an upgrade to a version that changes nothing of it', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'chart-'));
  try {
    cpSync(CHART, folder, { recursive: true });
    const file = join(folder, 'Chart.yaml');
    writeFileSync(file, readFileSync(file, 'utf8').replaceAll(/^(version|appVersion): .*$/gm, '$1: 99.0.0'));
    const args = ['template', 'coppice', folder, '--namespace', 'coppice-system', '--values', '-'];
    const next = objectsIn(await run(toolPath('helm'), args, { input: stringify(MIN_VALUES) }));
    const redisOf = (objects: readonly Rendered[]) => objectOf(objects, 'StatefulSet', 'coppice-redis').spec;
    expect(redisOf(next)).toEqual(redisOf(await renderObjects(MIN_VALUES)));
    const labels = z.looseObject({
      template: z.looseObject({ metadata: z.looseObject({ labels: z.record(z.string(), z.string()) }) }),
    });
    const pods = (await renderObjects(ALL_VALUES)).filter(({ kind }) => ['Deployment', 'StatefulSet'].includes(kind));
    for (const { spec } of pods) {
      expect(labels.parse(spec).template.metadata.labels).not.toHaveProperty('app.kubernetes.io/version');
    }
    expect(objectOf(next, 'Deployment', 'coppice-api').metadata).toMatchObject({
      labels: { 'app.kubernetes.io/version': '99.0.0' },
    });
  } finally {
    rmSync(folder, { recursive: true });
  }
});
