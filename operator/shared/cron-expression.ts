import { createTask, validateDetailed } from 'node-cron';
import { z } from 'zod';

const fields = ['minute', 'hour', 'day of month', 'month', 'day of week'];
/** node-cron's names of fields, where they differ from ours. */
const fieldNames: Record<string, string> = { dayOfMonth: 'day of month', dayOfWeek: 'day of week' };
const example = 'such as "17 3 * * *" for 03:17 every day';

/** Returns why a text is not a cron expression of five fields, and what to write; undefined if it is one. */
export function cronFault(expression: string): string | undefined {
  const count = expression.split(/\s+/).filter((field) => field !== '').length;
  // A sixth field would be the seconds: housekeeping is never due more than once a minute.
  if (count !== fields.length) return `has ${count} fields: write ${fields.join(', ')}, ${example}`;
  const { errors } = validateDetailed(expression);
  const [fault] = errors;
  if (fault) {
    const field = fieldNames[fault.field] ?? fault.field;
    return `has a ${field} that cannot occur (${fault.value ?? expression}): correct it, ${example}`;
  }
  return isEverDue(expression) ? undefined : `is never due: correct it, ${example}`;
}

function isEverDue(expression: string): boolean {
  const task = createTask(expression, () => undefined);
  try {
    return task.getNextRuns(1).length === 1;
  } catch {
    // node-cron found no date within a hundred years.
    return false;
  } finally {
    void task.destroy();
  }
}

/** A cron expression of five fields. */
export const cronExpression = z.string().superRefine((text, context) => {
  const message = cronFault(text);
  if (message !== undefined) context.addIssue({ code: 'custom', message });
});
