import { z } from 'zod';

/** The field that every kind's spec has for people. */
export const displayNameSchema = z
  .string()
  .min(1)
  .max(100)
  .optional()
  .meta({ description: 'Name for people; the resource name if absent.' });
