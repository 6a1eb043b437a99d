import { z } from 'zod';

/** `metav1.Condition`, as every kind's status lists them. */
const conditionSchema = z.object({
  type: z.string().max(316).meta({ description: 'Name of the condition, such as Ready.' }),
  status: z.enum(['True', 'False', 'Unknown']).meta({ description: 'Status of the condition.' }),
  observedGeneration: z
    .int()
    .min(0)
    .optional()
    .meta({ description: 'The `metadata.generation` that the condition was set for.' }),
  lastTransitionTime: z.iso
    .datetime({ offset: true })
    .meta({ format: 'date-time', description: 'When the status last changed.' }),
  reason: z.string().max(1024).meta({ description: 'The cause as a single CamelCase word.' }),
  message: z.string().max(32768).meta({ description: 'A human-readable cause, and what to do.' }),
});
export type Condition = z.infer<typeof conditionSchema>;

export const conditionsSchema = z.array(conditionSchema).meta({
  description: 'Conditions of the object, one entry per type.',
  'x-kubernetes-list-type': 'map',
  'x-kubernetes-list-map-keys': ['type'],
});

export type ConditionStatus = Condition['status'];

/** A reconcile's report on one aspect of an object, without a transition time. */
export interface ConditionReport {
  type: string;
  status: ConditionStatus;
  reason: string;
  message: string;
}

export function findCondition(conditions: readonly Condition[] | undefined, type: string): Condition | undefined {
  return conditions?.find((condition) => condition.type === type);
}

/**
 * Returns the conditions after the reports: `lastTransitionTime` changes only with the status, and the list is sorted
 * by type, so that equal reports give an equal list.
 */
export function mergeConditions(
  before: readonly Condition[] | undefined,
  reports: readonly ConditionReport[],
  observedGeneration: number,
  now: Date,
): Condition[] {
  const merged = new Map((before ?? []).map((condition) => [condition.type, condition]));
  for (const report of reports) {
    const last = merged.get(report.type);
    const lastTransitionTime =
      last?.status === report.status ? last.lastTransitionTime : now.toISOString().replace(/\.\d+Z$/, 'Z');
    merged.set(report.type, { ...report, observedGeneration, lastTransitionTime });
  }
  return [...merged.values()].sort((a, b) => (a.type < b.type ? -1 : 1));
}
