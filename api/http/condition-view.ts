import { z } from 'zod';
import type { Condition } from '../../crds/conditions.ts';
import { unixSecondsOf } from '../shared/unix-seconds.ts';

export const conditionViewSchema = z
  .object({
    type: z.string(),
    status: z.string(),
    reason: z.string(),
    message: z.string(),
    since: z.int().meta({ description: 'When the status last changed, in Unix seconds.' }),
  })
  .meta({ id: 'Condition', description: 'Conditions as in Kubernetes: a status, a reason and a message.' });
export type ConditionView = z.infer<typeof conditionViewSchema>;

export function conditionViews(conditions: readonly Condition[] | undefined): ConditionView[] {
  return (conditions ?? []).map(({ type, status, reason, message, lastTransitionTime }) => {
    return { type, status, reason, message, since: unixSecondsOf(lastTransitionTime) };
  });
}
