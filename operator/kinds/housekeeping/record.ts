import { z } from 'zod';
import { parse, stringify } from 'yaml';

/** The tasks of housekeeping, as in the chart's values and in the ConfigMap. */
export const HOUSEKEEPING_TASKS = ['images', 'orphans', 'logs', 'certificates'] as const;
export const taskNameSchema = z.enum(HOUSEKEEPING_TASKS);
export type HousekeepingTaskName = z.infer<typeof taskNameSchema>;

/** When a task is due. */
export interface Schedule {
  /** Cron expression of five fields. */
  expression: string;
  /** Name from the IANA time zone database. */
  timeZone: string;
}

const time = z.iso.datetime().transform((text) => new Date(text));
const recordSchema = z.object({
  schedule: z.string(),
  timeZone: z.string(),
  nextRun: time,
  lastRun: z
    .object({ at: time, outcome: z.enum(['succeeded', 'failed']), seconds: z.number(), message: z.string() })
    .optional(),
});

/** What is stored about a task. */
export type HousekeepingRecord = z.infer<typeof recordSchema>;
export type LastRun = NonNullable<HousekeepingRecord['lastRun']>;

/** Reads a value of the ConfigMap; undefined if there is none, or somebody has made it invalid. */
export function readRecord(text: string | undefined): HousekeepingRecord | undefined {
  if (text === undefined) return undefined;
  const { data } = recordSchema.safeParse(parsed(text));
  return data;
}

/** Returns a value of the ConfigMap, which `kubectl describe` shows as it is. */
export function recordText({ schedule, timeZone, nextRun, lastRun }: HousekeepingRecord): string {
  const last = lastRun && { ...lastRun, at: lastRun.at.toISOString() };
  return stringify({ schedule, timeZone, nextRun: nextRun.toISOString(), lastRun: last }, { lineWidth: 0 });
}

function parsed(text: string): unknown {
  try {
    return parse(text);
  } catch {
    return undefined;
  }
}
