import { z } from 'zod';
import { timeOfDaySchema } from './time-of-day.ts';
import { timeZoneSchema } from './time-zone.ts';
import { timestampSchema } from './timestamp.ts';

/** Days of the week, as in cron and systemd. */
export const WEEKDAYS = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] as const;
export type Weekday = (typeof WEEKDAYS)[number];

export const workingHoursSchema = z.object({
  days: z
    .array(z.enum(WEEKDAYS, { error: `must be one of ${WEEKDAYS.join(', ')}` }))
    .min(1)
    .max(WEEKDAYS.length)
    .default(['mon', 'tue', 'wed', 'thu', 'fri'])
    .meta({ description: 'Days on which they start.', 'x-kubernetes-list-type': 'set' }),
  from: timeOfDaySchema.meta({ description: 'When they start, hh:mm.' }),
  to: timeOfDaySchema.meta({
    description: 'When they end, hh:mm; on the next day unless it is later than `from`.',
  }),
  timeZone: timeZoneSchema,
});
export type WorkingHours = z.infer<typeof workingHoursSchema>;

export const MAX_IDLE_SECONDS = 90 * 24 * 3600;

export const WAKE_ON = ['visit', 'login', 'never'] as const;

/** When environments sleep, and what wakes them. Each field of an Environment replaces that of its Repository. */
export const sleepSettingsSchema = z
  .object({
    afterSeconds: z.int().min(0).max(MAX_IDLE_SECONDS).optional().meta({
      description:
        "After how many seconds without a visit an environment sleeps; 0 is never. Defaults to the chart's `environments.sleepAfterSeconds`.",
    }),
    workingHours: workingHoursSchema.optional().meta({
      description: 'Hours of the week outside of which an environment sleeps once it is idle. Within them it is awake.',
    }),
    wakeOn: z.enum(WAKE_ON).optional().meta({
      description:
        'What wakes a sleeping environment, in addition to requests and working hours: `visit` (default), anybody who opens its address; `login`, a member of the group, whom its address leads to the panel; `never`, nothing else.',
    }),
    wakeOnCommit: z.boolean().optional().meta({
      description:
        'Whether the build of a new commit wakes a sleeping environment; otherwise only its images are built. Defaults to false.',
    }),
  })
  .meta({ description: 'When environments sleep: their services are stopped, their contents stay.' });
export type SleepSettings = z.infer<typeof sleepSettingsSchema>;

export const SLEEP_REASONS = ['Requested', 'Idle', 'OutsideWorkingHours', 'WorkingHours', 'Visited', 'Build'] as const;

/** ID in the value of a request to wake that a visit caused. */
export const VISIT_REQUEST_ID = 'visit';

export const sleepStatusSchema = z.object({
  asleep: z.boolean().meta({ description: 'Whether the services are to be stopped.' }),
  since: timestampSchema.meta({
    description: 'When this was decided; for an awake environment, when it was last kept awake.',
  }),
  reason: z.enum(SLEEP_REASONS).meta({ description: 'What put it to sleep, or woke it.' }),
  visitedAt: timestampSchema.optional().meta({ description: 'When somebody was last seen to visit it.' }),
  watchedSince: timestampSchema.optional().meta({
    description: 'Since when visitors are watched for: the next one passes the waker. Absent after a visit.',
  }),
});
export type SleepStatus = z.infer<typeof sleepStatusSchema>;
