// Checks without a cluster that examples/ and skaffold.yaml match the chart, and that the health script judges
// correctly.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { LuaFactory } from 'wasmoon';
import { parse } from 'yaml';
import { z } from 'zod';
import { reconciling, ready, stalled, suspended } from '../../operator/shared/conditions.ts';
import { mergeConditions, type ConditionReport } from '../../crds/conditions.ts';
import { REPOSITORY_ROOT } from '../support/paths.ts';
import { objectOf, objectsIn, render } from './render.ts';

const read = (path: string) => readFileSync(join(REPOSITORY_ROOT, path), 'utf8');

test.each([
  [
    'examples/argo-cd/coppice.yaml',
    'Application',
    z
      .looseObject({
        spec: z.looseObject({ source: z.looseObject({ helm: z.looseObject({ valuesObject: z.looseObject({}) }) }) }),
      })
      .transform(({ spec }) => spec.source.helm.valuesObject),
  ],
  [
    'examples/flux/coppice.yaml',
    'HelmRelease',
    z.looseObject({ spec: z.looseObject({ values: z.looseObject({}) }) }).transform(({ spec }) => spec.values),
  ],
])('renders %s twice identically, without random passwords', async (path, kind, valuesOf) => {
  const values = valuesOf.parse(objectOf(objectsIn(read(path)), kind, 'coppice'));
  const [first, second] = await Promise.all([render(values), render(values)]);
  expect(first).toContain('kind: Deployment');
  expect(second).toBe(first);
});

test.each(['examples/argo-cd/acme.yaml', 'examples/flux/acme.yaml', 'examples/argo-cd/coppice.yaml'])(
  'has every file to which %s refers',
  (path) => {
    const { spec } = z
      .looseObject({ spec: z.looseObject({ path: z.string().optional(), source: z.unknown().optional() }) })
      .parse(objectsIn(read(path)).at(-1));
    const { path: folder } = z.looseObject({ path: z.string() }).parse(spec.source ?? spec);
    expect(existsSync(join(REPOSITORY_ROOT, folder))).toBe(true);
  },
);

test('accepts the values of skaffold.yaml', async () => {
  const releaseSchema = z.strictObject({
    name: z.string(),
    chartPath: z.string(),
    namespace: z.string(),
    createNamespace: z.boolean(),
    valuesFiles: z.array(z.string()),
    setValueTemplates: z.record(z.string(), z.string()),
  });
  const { build, deploy } = z
    .looseObject({
      apiVersion: z.string().regex(/^skaffold\/v4beta\d+$/),
      kind: z.literal('Config'),
      build: z.strictObject({
        artifacts: z.array(z.strictObject({ image: z.string(), docker: z.strictObject({ dockerfile: z.string() }) })),
      }),
      deploy: z.looseObject({ helm: z.strictObject({ releases: z.array(releaseSchema).length(1) }) }),
    })
    .parse(parse(read('skaffold.yaml')));
  const [release] = deploy.helm.releases;
  expect(existsSync(join(REPOSITORY_ROOT, release!.chartPath, 'Chart.yaml'))).toBe(true);
  for (const { image, docker } of build.artifacts) {
    expect(existsSync(join(REPOSITORY_ROOT, docker.dockerfile))).toBe(true);
    const name = image.replaceAll(/[^A-Za-z0-9]/g, '_');
    expect(Object.values(release!.setValueTemplates)).toContain(`{{.IMAGE_REPO_${name}}}`);
  }
  const sets = Object.keys(release!.setValueTemplates).flatMap((key) => ['--set-string', `${key}=made`]);
  const text = await render(z.looseObject({}).parse(parse(read(release!.valuesFiles[0]!))), ...sets);
  expect(text).toContain('image: made:made');
});

const { data } = z
  .looseObject({ data: z.object({ 'resource.customizations': z.string() }) })
  .parse(parse(read('examples/argo-cd/health.yaml')));
const script = z
  .object({ 'coppice.dev/*': z.object({ 'health.lua': z.string() }) })
  .parse(parse(data['resource.customizations']))['coppice.dev/*']['health.lua'];

/** Returns a value as a Lua literal. */
function lua(value: unknown): string {
  if (Array.isArray(value)) return `{ ${value.map(lua).join(', ')} }`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  return `{ ${Object.entries(value)
    .map(([key, item]) => `[${JSON.stringify(key)}] = ${lua(item)}`)
    .join(', ')} }`;
}

/** Runs the script like Argo CD, with the object in `obj`, and returns its result. */
async function healthOf(obj: object): Promise<unknown> {
  const engine = await new LuaFactory().createEngine();
  try {
    return await engine.doString(`obj = ${lua(obj)}\n${script}`);
  } finally {
    engine.global.close();
  }
}

const at = new Date('2026-01-01T00:00:00Z');
const object = (reports: ConditionReport[] | undefined, observed = 3) => ({
  metadata: { name: 'shop-main', generation: 3 },
  ...(reports && { status: { conditions: mergeConditions([], reports, observed, at) } }),
});

test.each<[what: string, obj: object, status: string, message: RegExp]>([
  ['without a status', object(undefined), 'Progressing', /not reconciled/],
  ['that is ready', object(ready('Built', 'every service is ready')), 'Healthy', /every service is ready/],
  ['under way', object(reconciling('Building', 'build 2 runs')), 'Progressing', /build 2 runs/],
  ['where somebody must act', object(stalled('BuildFailed', 'build 2 failed')), 'Degraded', /build 2 failed/],
  ['that is suspended', object(suspended(true, 'spec.suspend is set')), 'Suspended', /spec.suspend/],
  ['that was suspended early', object(suspended(false, 'spec.suspend is set')), 'Suspended', /spec.suspend/],
  ['that was ready before its change', object(ready('Built', 'runs'), 2), 'Progressing', /not reconciled/],
  ['that stalled before its change', object(stalled('BuildFailed', 'failed'), 2), 'Progressing', /not reconciled/],
])('reports the health of an object %s to Argo CD', async (_what, obj, status, message) => {
  const health = z.strictObject({ status: z.string(), message: z.string() }).parse(await healthOf(obj));
  expect(health.status).toBe(status);
  expect(health.message).toMatch(message);
});
