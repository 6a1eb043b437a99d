import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { z } from 'zod';
import { CHART, objectOf, renderObjects } from './render.ts';
import { ALL_VALUES } from './sample-values.ts';

/** The chart's alerts, without unknown fields. */
const rulesSchema = z.strictObject({
  groups: z
    .array(
      z.strictObject({
        name: z.string(),
        rules: z
          .array(
            z.strictObject({
              alert: z.string().regex(/^Coppice[A-Z]\w+$/),
              expr: z.string(),
              for: z
                .string()
                .regex(/^\d+[smh]$/)
                .optional(),
              labels: z.strictObject({ severity: z.enum(['warning', 'critical']) }),
              annotations: z.strictObject({ summary: z.string(), description: z.string() }),
            }),
          )
          .min(1),
      }),
    )
    .min(1),
});
export type Rules = z.infer<typeof rulesSchema>;

const dashboardSchema = z.looseObject({
  uid: z.string(),
  panels: z
    .array(
      z.looseObject({ id: z.int(), title: z.string(), targets: z.array(z.looseObject({ expr: z.string() })).min(1) }),
    )
    .min(1),
});
export type Panel = z.infer<typeof dashboardSchema>['panels'][number];

const read = (name: string): string => readFileSync(join(CHART, 'files', name), 'utf8');

export const { groups } = rulesSchema.parse(parse(read('alerts.yaml')));
export const { panels } = dashboardSchema.parse(JSON.parse(read('dashboard.json')));

/** Returns the expressions of a panel, with Grafana's variables filled in. */
export const expressionsOf = ({ targets }: Panel): string[] =>
  targets.map(({ expr }) => expr.replaceAll('$__rate_interval', '5m'));

/** Returns the alerts and the dashboard's panels of the chart's objects. */
export async function renderedRules(): Promise<{ rules: Rules; panels: Panel[] }> {
  const objects = await renderObjects(ALL_VALUES);
  const { data } = z
    .looseObject({ data: z.object({ 'coppice.json': z.string() }) })
    .parse(objectOf(objects, 'ConfigMap', 'coppice-dashboard'));
  return {
    rules: rulesSchema.parse(objectOf(objects, 'PrometheusRule', 'coppice')['spec']),
    panels: dashboardSchema.parse(JSON.parse(data['coppice.json'])).panels,
  };
}
