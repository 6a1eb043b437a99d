import { z } from 'zod';

/** A time of day, hh:mm. */
export const timeOfDaySchema = z
  .string()
  .regex(/^([01]\d|2[0-3]):[0-5]\d$/, { error: 'must be a time of day, hh:mm' })
  .meta({ description: 'Time of day, hh:mm.' });
