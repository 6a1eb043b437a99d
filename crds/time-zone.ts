import { z } from 'zod';

/** Returns whether this is a name in Node's IANA time zone database, not an offset such as +01:00. */
export function isTimeZone(name: string): boolean {
  try {
    Intl.DateTimeFormat('en', { timeZone: name });
    return /^[A-Za-z]/.test(name);
  } catch (error) {
    if (error instanceof RangeError) return false;
    throw error;
  }
}

/** The time zone of a setting in local time. */
export const timeZoneSchema = z
  .string()
  .max(64)
  .refine(isTimeZone, { error: 'must be a name from the IANA time zone database, such as Europe/Berlin' })
  .default('UTC')
  .meta({ description: 'Name from the IANA time zone database.' });
