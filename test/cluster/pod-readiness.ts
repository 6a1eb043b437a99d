import { z } from 'zod';

const podSchema = z.looseObject({
  metadata: z.looseObject({ ownerReferences: z.array(z.looseObject({ kind: z.string() })).optional() }),
  status: z.looseObject({
    conditions: z
      .array(z.looseObject({ type: z.string(), status: z.string(), lastTransitionTime: z.string().nullish() }))
      .optional(),
  }),
});

/** The part of kubectl's output about pods that is used here. */
export const podsSchema = z.object({ items: z.array(podSchema) });

/**
 * Returns whether a pod has been ready since before a time, in milliseconds. Static pods do not count, because the node
 * keeps their status over a restart.
 */
export function isReadySinceBefore(time: number, { metadata, status }: z.infer<typeof podSchema>): boolean {
  if (metadata.ownerReferences?.some((owner) => owner.kind === 'Node')) return false;
  const ready = status.conditions?.find((one) => one.type === 'Ready');
  return ready?.status === 'True' && Date.parse(ready.lastTransitionTime ?? '') < time;
}
