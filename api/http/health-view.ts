import { z } from 'zod';
import { findCondition, type Condition } from '../../crds/conditions.ts';
import { unixSecondsOf } from '../shared/unix-seconds.ts';

/** The health of an object: its conditions, summarized in one word. */
export const HEALTHS = ['failed', 'degraded', 'progressing', 'healthy', 'inactive'] as const;
export type Health = (typeof HEALTHS)[number];

export const healthSchema = z.enum(HEALTHS).meta({
  description:
    'Extension: `failed`: somebody must act; `degraded`: it runs, but not completely; `progressing`: the operator works or waits; `healthy`; `inactive`: nothing is to run.',
});

/** Longer texts are in the object's conditions. */
const maxMessage = 500;

export const problemSchema = z
  .object({
    reason: z.string(),
    message: z.string().meta({ description: `At most ${maxMessage} characters.` }),
    since: z.int().meta({ description: 'In Unix seconds.' }),
    service: z.string().optional().meta({ description: 'The service that fails, if it is a single one.' }),
  })
  .meta({ id: 'HealthProblem', description: 'Extension: the most specific reason why an object is not healthy.' });
export type Problem = z.infer<typeof problemSchema>;

/** Returns a condition as a problem, with its message cut. */
export function problemOf({ reason, message, lastTransitionTime }: Condition): Problem {
  return { reason, message: shortened(message), since: unixSecondsOf(lastTransitionTime) };
}

/** Returns the condition of this type if it has this status. */
export function conditionThat(
  conditions: readonly Condition[] | undefined,
  type: string,
  status: Condition['status'],
): Condition | undefined {
  const condition = findCondition(conditions, type);
  return condition?.status === status ? condition : undefined;
}

/** Cuts a text without splitting a character. */
export function shortened(text: string): string {
  if (text.length <= maxMessage) return text;
  return `${text
    .slice(0, maxMessage - 1)
    .toWellFormed()
    .replace(/\ufffd$/, '')}…`;
}
