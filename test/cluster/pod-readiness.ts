import { z } from 'zod';

const podSchema = z.looseObject({
  metadata: z.looseObject({ ownerReferences: z.array(z.looseObject({ kind: z.string() })).optional() }),
  status: z.looseObject({
    conditions: z
      .array(z.looseObject({ type: z.string(), status: z.string(), lastTransitionTime: z.string().nullish() }))
      .optional(),
  }),
});

/** What kubectl answers for pods, as far as it is read here. */
export const podsSchema = z.object({ items: z.array(podSchema) });

/**
 * Whether a pod says that it is ready, and has said so since before a time (in milliseconds). A static pod, which is the
 * node's own, does not count: its status may be carried over a restart.
 */
export function isReadySinceBefore(time: number, { metadata, status }: z.infer<typeof podSchema>): boolean {
  if (metadata.ownerReferences?.some((owner) => owner.kind === 'Node')) return false;
  const ready = status.conditions?.find((one) => one.type === 'Ready');
  return ready?.status === 'True' && Date.parse(ready.lastTransitionTime ?? '') < time;
}
