import { readFile } from 'node:fs/promises';
import { z } from 'zod';
import { parse } from 'yaml';
import { quantityValue } from '../kubernetes/quantity.ts';
import { metricsTokenField } from '../process/metrics-token.ts';
import { faultsOf, readVariables } from '../process/variables.ts';
import { canonicalHost, splitAddress } from './images/registry/own-registry.ts';
import type { Scheduling } from './shared/scheduling.ts';

const quantities = z.record(z.string(), z.string());
/** An amount that buildkitd's limits are reckoned from. */
const storage = z.string().refine((text) => quantityValue(text) >= 1, 'must be an amount of storage, such as 20Gi');
const address = z.string().regex(/^[a-z0-9.-]+(:\d+)?$/i);

/** As Distribution's grammar has a repository's name, for images' names start with it. */
const registryPattern = /^[A-Za-z0-9.-]+(:\d+)?(\/[a-z0-9]+((\.|__?|-+)[a-z0-9]+)*)*$/;

const httpUrl = z.url({ protocol: /^https?$/ });

/** Host and path as buildkitd reads them too: no scheme, and no path that leads upwards. */
const mirror = z
  .string()
  .regex(/^[a-z0-9.-]+(:\d+)?(\/[a-z0-9]+([._-]+[a-z0-9]+)*)*\/?$/i, 'must be host[:port][/path]');

/** Whether the mirror holds all of the registry at `own`: then another registry's name would lead to anybody's images. */
function isRootOf(own: string, text: string): boolean {
  const plain = (one: string) => {
    const { host, path } = splitAddress(one.replace(/\/+$/, ''));
    return `${[canonicalHost(host), path].filter(Boolean).join('/')}/`;
  };
  return plain(own).startsWith(plain(text));
}

const cidr = z.union([z.cidrv4(), z.cidrv6()]);
const object = z.record(z.string(), z.unknown());

/** Fields of a pod: what is in affinity and tolerations, the API server checks. */
const scheduling = z
  .strictObject({
    nodeSelector: z.record(z.string(), z.string()).optional(),
    tolerations: z.array(object).optional(),
    affinity: object.optional(),
    priorityClassName: z.string().optional(),
    runtimeClassName: z.string().optional(),
  })
  .transform((fields): Scheduling => fields)
  .prefault({});

/** The operator's configuration file; the chart writes it from its values. */
const configSchema = z.strictObject({
  systemNamespace: z.string(),
  healthPort: z.int().default(3001),
  logLevel: z.enum(['debug', 'info', 'warn', 'error']).default('info'),
  redisUrl: z.url(),
  /** Where the API answers, for links and webhooks. */
  apiUrl: z.url().transform((text) => new URL(text)),
  environmentsUrl: z.url().transform((text) => new URL(text)),
  /** PEM of authorities beside the public ones, for the clones of builds; the operator itself has them by its environment. */
  caCertificates: z.string().min(1).optional(),
  ingress: z.strictObject({
    className: z.string().optional(),
    namespace: z.string(),
    /** Networks that the Ingress controller connects from besides. */
    cidrs: z.array(cidr).default([]),
    annotations: z.record(z.string(), z.string()).default({}),
    clusterIssuer: z.string().optional(),
    drainSeconds: z.int().min(0).default(3),
  }),
  /** What the policies of environments let out. */
  egress: z
    .strictObject({
      dns: z
        .strictObject({
          namespace: z.string().default('kube-system'),
          podLabels: z.record(z.string(), z.string()).default({}),
          cidrs: z.array(cidr).default([]),
          ports: z.array(z.int().min(1).max(65535)).min(1).default([53]),
        })
        .refine(({ namespace, cidrs }) => namespace !== '' || cidrs.length > 0, {
          error: 'needs a namespace or cidrs: a policy without either would permit all egress',
        })
        .prefault({}),
      ipv6: z.boolean().default(false),
      exceptCidrs: z.array(cidr).default([]),
    })
    .prefault({}),
  registry: z
    .strictObject({
      address: z.string().regex(registryPattern, 'must be host[:port][/path]'),
      /** How images are named below the address (crds/names.ts). */
      layout: z.enum(['nested', 'flat']).default('nested'),
      insecure: z.boolean().default(false),
      /** The registry asks our token server: where that answers, and what the registry calls itself. */
      tokenAuth: z
        .strictObject({ url: httpUrl.transform((text) => new URL(text)), service: z.string().min(1) })
        .optional(),
      /** By registry: `host[:port][/path]` that stand in for it, as buildkitd has them. */
      mirrors: z.record(z.string(), z.array(mirror)).default({}),
      /** Registries beside `address` that speak plain HTTP. */
      insecureAddresses: z.array(address).default([]),
      /** Private networks that base images may be in. */
      allowedCidrs: z.array(z.union([z.cidrv4(), z.cidrv6()])).default([]),
      /** Images that nothing uses are deleted when they are older; 0: never. */
      keepUnusedHours: z.int().min(0).default(24),
    })
    .superRefine(({ address: own, mirrors }, context) => {
      for (const [registry, locations] of Object.entries(mirrors)) {
        if (!locations.some((location) => isRootOf(own, location))) continue;
        const message = 'names the whole registry of built images: give it a path, such as HOST/docker.io';
        context.addIssue({ code: 'custom', path: ['mirrors', registry], message });
      }
    }),
  builder: z.strictObject({
    namespace: z.string(),
    /** Holds buildkitd, rootlesskit and buildctl. */
    image: z.string(),
    /** The ConfigMap with buildkitd.toml, in the builders' namespace. */
    configMap: z.string(),
    cloneImage: z.string(),
    deadlineSeconds: z.int().min(1),
    idleSeconds: z.int().min(1).default(600),
    startDeadlineSeconds: z.int().min(1).default(180),
    cache: z.strictObject({ size: storage, storageClass: z.string().min(1).optional() }),
    concurrency: z
      .strictObject({
        total: z.int().min(1),
        perGroup: z.int().min(1),
        /** Of all groups that one account created. */
        perAccount: z.int().min(1).default(8),
      })
      .prefault({ total: 16, perGroup: 4 }),
    ephemeral: z.strictObject({ maxConcurrent: z.int().min(1), storage }),
    resources: z.strictObject({ requests: quantities.optional(), limits: quantities.optional() }),
    scheduling,
    /** Of the Jobs that clone and have builders build. */
    jobScheduling: scheduling,
    /** Through which builders and build steps reach the web, as programs read it of their environment. */
    proxy: z.partialRecord(z.enum(['HTTP_PROXY', 'HTTPS_PROXY', 'NO_PROXY']), z.string()).default({}),
  }),
  sources: z.strictObject({
    allowedCidrs: z.array(z.union([z.cidrv4(), z.cidrv6()])).default([]),
    ports: z.array(z.int().min(1).max(65535)).default([80, 443]),
    sshPorts: z.array(z.int().min(1).max(65535)).default([22]),
    timeoutSeconds: z.int().min(1).default(20),
    deadlineSeconds: z.int().min(0).default(60),
    pollSeconds: z.int().min(10).default(300),
    /** That one Repository may have by its refs. */
    maxEnvironments: z.int().min(1).default(500),
    /** Of all Repositories in the groups that one account created. */
    maxEnvironmentsPerAccount: z.int().min(1).default(2000),
    /** Where the hosts are of which a Repository names no instance. */
    hosts: z
      .strictObject({
        ownerhost: z
          .strictObject({
            webUrl: httpUrl.default('https://github.com'),
            apiUrl: httpUrl.default('https://api.github.com'),
          })
          .prefault({}),
        groupedhost: z.strictObject({ webUrl: httpUrl.default('https://gitlab.com') }).prefault({}),
        workspacehost: z
          .strictObject({
            webUrl: httpUrl.default('https://bitbucket.org'),
            apiUrl: httpUrl.default('https://api.bitbucket.org/2.0'),
          })
          .prefault({}),
      })
      .prefault({}),
  }),
  environments: z.strictObject({
    /** Of services that name none: their images are built for it, and their pods run there. */
    platform: z
      .string()
      .regex(/^linux\/[a-z0-9]+(\/[a-z0-9]+)?$/)
      .optional(),
    scheduling,
    rolloutDeadlineSeconds: z.int().min(1).default(300),
    jobDeadlineSeconds: z.int().min(1).default(1800),
    /** Maximum number of environments with contents in groups that set no limit. */
    maxPerGroup: z.int().min(1).default(200),
    quota: quantities,
    /** What a group's published volumes may have together. */
    reusableQuota: quantities.default({}),
    defaultRequests: quantities,
    defaultLimits: quantities,
    volumes: z.strictObject({ size: z.string(), storageClass: z.string().optional() }),
  }),
  /** What is kept of the logs of finished builds. */
  buildLogs: z
    .strictObject({ buildsPerEnvironment: z.int().min(1).default(5), totalMiB: z.int().min(1).default(256) })
    .prefault({}),
  groups: z.strictObject({
    memberRole: z.string(),
    /** Bound to members in the namespaces of environments; absent: they read nothing there. */
    environmentMemberRole: z.string().optional(),
    apiRole: z.string(),
    apiServiceAccount: z.string(),
  }),
  workers: z.int().min(1).default(16),
});
export type OperatorConfig = z.infer<typeof configSchema>;

/** What comes from Secrets, or leads to them, by the environment. */
const secretsSchema = z.object({
  REDIS_PASSWORD: z.string().min(1).optional(),
  /** Holds the files `username` and `password` for the registry; absent: it asks for none. */
  REGISTRY_CREDENTIALS_FOLDER: z.string().min(1).optional(),
  METRICS_TOKEN: metricsTokenField,
  POD_NAME: z.string().default('operator'),
  /** Where the tester answers; absent: tests are off. */
  TESTER_URL: httpUrl.transform((text) => new URL(text)).optional(),
  TESTER_TOKEN_FILE: z.string().default('/etc/coppice-tester/token'),
});
export type OperatorSecrets = z.infer<typeof secretsSchema>;

/** Throws an Error that names every field that is missing or wrong, and no value. */
export async function readConfig(file: string): Promise<OperatorConfig> {
  const result = configSchema.safeParse(parse(await readFile(file, 'utf8')));
  if (result.success) return result.data;
  throw new Error(`the configuration file ${file} is not valid: ${faultsOf(result.error)}`);
}

export function readSecrets(environment: NodeJS.ProcessEnv): OperatorSecrets {
  return readVariables(secretsSchema, environment);
}
