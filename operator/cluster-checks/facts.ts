import { readFile } from 'node:fs/promises';
import { z } from 'zod';
import { isNotFound } from '../../kubernetes/api-error.ts';
import type { ClusterClient } from '../../kubernetes/client.ts';
import {
  EndpointSlice,
  Gateway,
  IngressClass,
  Node,
  Service,
  StorageClass,
  type KubernetesObject,
  type ResourceType,
} from '../../kubernetes/resource-type.ts';
import type { CheckSettings } from './settings.ts';

/** The value that was read, or why it could not be read. */
export type Fact<T> = { value: T } | { unknown: string };

const text = z.string();
const metadata = z.looseObject({ name: text, annotations: z.record(text, text).optional() });
const classSchema = z.looseObject({ metadata });
const nodeSchema = z.looseObject({
  metadata,
  spec: z.looseObject({ podCIDRs: z.array(text).optional(), podCIDR: text.optional() }).optional(),
  status: z
    .looseObject({
      addresses: z.array(z.looseObject({ type: text, address: text })).optional(),
      images: z.array(z.looseObject({ names: z.array(text).nullish() })).optional(),
    })
    .optional(),
});
const serviceSchema = z.looseObject({
  metadata,
  spec: z.looseObject({
    clusterIPs: z.array(text).optional(),
    selector: z.record(text, text).optional(),
  }),
});
const sliceSchema = z.looseObject({
  metadata: metadata.extend({ labels: z.record(text, text).optional() }),
  endpoints: z
    .array(z.looseObject({ addresses: z.array(text) }))
    .nullish()
    .transform((endpoints) => endpoints ?? []),
  ports: z
    .array(z.looseObject({ port: z.int().nullish() }))
    .nullish()
    .transform((ports) => ports ?? []),
});
const gatewaySchema = z.looseObject({
  metadata,
  spec: z.looseObject({ listeners: z.array(z.looseObject({ name: text, port: z.int() })) }),
  status: z
    .looseObject({ conditions: z.array(z.looseObject({ type: text, status: text, message: text })).optional() })
    .optional(),
});
const versionSchema = z.looseObject({ gitVersion: text });
const resourcesSchema = z.looseObject({ resources: z.array(z.looseObject({ name: text })) });

export type ClassFact = z.infer<typeof classSchema>;
export type NodeFact = z.infer<typeof nodeSchema>;
export type ServiceFact = z.infer<typeof serviceSchema>;
export type SliceFact = z.infer<typeof sliceSchema>;
export type GatewayFact = z.infer<typeof gatewaySchema>;

/** The state of the cluster that the checks evaluate. */
export interface ClusterFacts {
  version: Fact<string>;
  nodes: Fact<NodeFact[]>;
  storageClasses: Fact<ClassFact[]>;
  ingressClasses: Fact<ClassFact[]>;
  /** By `namespace/name`; undefined for a Gateway that does not exist. */
  gateways: Fact<Map<string, GatewayFact | undefined>>;
  /** DNS servers that this pod uses. */
  nameservers: Fact<string[]>;
  /** Services and their endpoints in the namespace of DNS. */
  dnsServices: Fact<ServiceFact[]>;
  dnsSlices: Fact<SliceFact[]>;
  /** Endpoints in the namespace of the Ingress controller. */
  ingressSlices: Fact<SliceFact[]>;
  hasMetrics: Fact<boolean>;
  hasAdmissionPolicies: Fact<boolean>;
}

export type FactClient = Pick<ClusterClient, 'list' | 'find' | 'discover'>;

/** Reads the facts. One that cannot be read is unknown, which the checks report. */
export async function readFacts(
  client: FactClient,
  { dns, ingress }: CheckSettings,
  readResolvConf: () => Promise<string> = () => readFile('/etc/resolv.conf', 'utf8'),
): Promise<ClusterFacts> {
  const items = <T extends KubernetesObject, S extends z.ZodType>(
    type: ResourceType<T>,
    schema: S,
    namespace?: string,
  ) => fact(async () => z.array(schema).parse((await client.list(type, { namespace })).items));
  const has = (path: string, resource: string) =>
    fact(async () => {
      const answer = await client.discover(path).catch((error: unknown) => {
        if (isNotFound(error)) return { resources: [] };
        throw error;
      });
      return resourcesSchema.parse(answer).resources.some(({ name }) => name === resource);
    });
  const [version, nodes, storageClasses, ingressClasses, gateways, nameservers] = await Promise.all([
    fact(async () => versionSchema.parse(await client.discover('/version')).gitVersion),
    items(Node, nodeSchema),
    items(StorageClass, classSchema),
    items(IngressClass, classSchema),
    fact(async () => {
      const found = ingress.parentRefs.map(async ({ namespace, name }) => {
        const gateway = await client.find(Gateway, { namespace, name });
        return [`${namespace}/${name}`, gateway && gatewaySchema.parse(gateway)] as const;
      });
      return new Map(await Promise.all(found));
    }),
    fact(async () => nameserversOf(await readResolvConf())),
  ]);
  const inDns = dns.namespace === '' ? undefined : dns.namespace;
  const none = Promise.resolve({ value: [] });
  const [dnsServices, dnsSlices, ingressSlices, hasMetrics, hasAdmissionPolicies] = await Promise.all([
    inDns === undefined ? none : items(Service, serviceSchema, inDns),
    inDns === undefined ? none : items(EndpointSlice, sliceSchema, inDns),
    items(EndpointSlice, sliceSchema, ingress.namespace),
    has('/apis/metrics.k8s.io/v1beta1', 'pods'),
    has('/apis/admissionregistration.k8s.io/v1', 'validatingadmissionpolicies'),
  ]);
  return {
    ...{ version, nodes, storageClasses, ingressClasses, gateways, nameservers },
    ...{ dnsServices, dnsSlices, ingressSlices, hasMetrics, hasAdmissionPolicies },
  };
}

async function fact<T>(read: () => Promise<T>): Promise<Fact<T>> {
  try {
    return { value: await read() };
  } catch (error) {
    return { unknown: error instanceof Error ? error.message : String(error) };
  }
}

function nameserversOf(resolvConf: string): string[] {
  return resolvConf.split('\n').flatMap((line) => /^nameserver\s+(\S+)/.exec(line)?.[1] ?? []);
}
