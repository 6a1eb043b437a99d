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

/** What kubectl answers for pods and EndpointSlices of a namespace, as far as it is read here. */
export const podsAndSlicesSchema = z.object({
  items: z.array(z.discriminatedUnion('kind', [podSchema, endpointSliceSchema])),
});

/**
 * The addresses at which Services look for pods that are gone, or have another address by now: in a node just started
 * again each pod gets a new one, and its old one may be another pod's, which answers in its place.
 */
export function addressesOfNobody({ items }: z.infer<typeof podsAndSlicesSchema>): string[] {
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
