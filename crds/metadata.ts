import { z } from 'zod';

/** The metadata that Coppice reads; other fields pass through. */
const metadataSchema = z.looseObject({
  name: z.string(),
  namespace: z.string().optional(),
  uid: z.string().optional(),
  generation: z.number().optional(),
  resourceVersion: z.string().optional(),
  creationTimestamp: z.string().optional(),
  deletionTimestamp: z.string().optional(),
  labels: z.record(z.string(), z.string()).optional(),
  annotations: z.record(z.string(), z.string()).optional(),
  finalizers: z.array(z.string()).optional(),
});

/** Returns the schema of an object from the API server; unknown fields pass through. */
export function objectSchema<Spec extends z.ZodType, Status extends z.ZodType>(spec: Spec, status: Status) {
  return z.looseObject({ metadata: metadataSchema, spec, status: status.optional() });
}
