import { z } from 'zod';

/** The display name in every kind's spec. */
export const displayNameSchema = z
  .string()
  .min(1)
  .max(100)
  .optional()
  .meta({ description: 'Display name; defaults to the resource name.' });
