import { z } from 'zod';

/** The part of an object's metadata that Coppice reads; the rest passes through untouched. */
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

/** An object of one of our kinds as it comes from the API server; what is not read here passes through untouched. */
export function objectSchema<Spec extends z.ZodType, Status extends z.ZodType>(spec: Spec, status: Status) {
  return z.looseObject({ metadata: metadataSchema, spec, status: status.optional() });
}
