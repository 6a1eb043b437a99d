import { z } from 'zod';

const podSchema = z.looseObject({
  metadata: z.looseObject({ ownerReferences: z.array(z.looseObject({ kind: z.string() })).optional() }),
  spec: z.looseObject({ nodeName: z.string().optional() }).optional(),
  status: z.looseObject({
    conditions: z
      .array(z.looseObject({ type: z.string(), status: z.string(), lastTransitionTime: z.string().nullish() }))
      .optional(),
  }),
});

/** The part of kubectl's output about pods that is used here. */
export const podsSchema = z.object({ items: z.array(podSchema) });

/**
 * Returns whether a pod has been ready since before its node started. Static pods do not count, because the node keeps
 * their status over a restart.
 * @param started when each node started, by its name, in milliseconds since 1970
 */
export function isReadySinceBefore(
  started: ReadonlyMap<string, number>,
  { metadata, spec, status }: z.infer<typeof podSchema>,
): boolean {
  const time = started.get(spec?.nodeName ?? '') ?? 0;
  if (metadata.ownerReferences?.some((owner) => owner.kind === 'Node')) return false;
  const ready = status.conditions?.find((one) => one.type === 'Ready');
  return ready?.status === 'True' && Date.parse(ready.lastTransitionTime ?? '') < time;
}
