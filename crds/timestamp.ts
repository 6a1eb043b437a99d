import { z } from 'zod';

/** A time as Kubernetes writes it (RFC 3339). */
export const timestampSchema = z.iso.datetime({ offset: true }).meta({ format: 'date-time' });
