import { z } from 'zod';

const podSchema = z.looseObject({
  kind: z.literal('Pod'),
  metadata: z.looseObject({ uid: z.string() }),
  status: z.looseObject({ podIPs: z.array(z.looseObject({ ip: z.string() })).optional() }),
});

const endpointSliceSchema = z.looseObject({
  kind: z.literal('EndpointSlice'),
  endpoints: z
    .array(
      z.looseObject({
        addresses: z.array(z.string()),
        targetRef: z.looseObject({ kind: z.string().optional(), uid: z.string().optional() }).nullish(),
      }),
    )
    .nullish(),
});

/** The part of kubectl's output about pods and EndpointSlices that is used here. */
export const podsAndSlicesSchema = z.object({
  items: z.array(z.discriminatedUnion('kind', [podSchema, endpointSliceSchema])),
});

/**
 * Returns the addresses in Services that belong to no current pod of theirs: in a restarted node each pod gets a new
 * address, and its old one may belong to another pod, which would respond instead.
 */
export function staleAddresses({ items }: z.infer<typeof podsAndSlicesSchema>): string[] {
  const addresses = new Map(
    items.flatMap((one) =>
      one.kind === 'Pod' ? [[one.metadata.uid, (one.status.podIPs ?? []).map(({ ip }) => ip)] as const] : [],
    ),
  );
  return items
    .flatMap((one) => (one.kind === 'EndpointSlice' ? (one.endpoints ?? []) : []))
    .flatMap(({ addresses: reported, targetRef }) => {
      if (targetRef?.kind !== 'Pod' || targetRef.uid === undefined) return [];
      const actual = addresses.get(targetRef.uid) ?? [];
      return reported.filter((address) => !actual.includes(address));
    });
}
