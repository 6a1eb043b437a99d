import { readFile } from 'node:fs/promises';
import { z } from 'zod';
import { parse } from 'yaml';
import { DEFAULT_ACCESS_MODES } from '../crds/access.ts';
import { FORK_APPROVALS } from '../crds/repository.ts';
import { timeZoneSchema } from '../crds/time-zone.ts';
import { quantityValue } from '../kubernetes/quantity.ts';
import { metricsTokenField } from '../process/metrics-token.ts';
import { faultsOf, readVariables } from '../process/variables.ts';
import { canonicalHost, splitAddress } from './images/registry/own-registry.ts';
import { accessEnforcementSchema } from './services/objects/access-enforcement.ts';
import { cronExpression } from './shared/cron-expression.ts';
import type { Scheduling } from './shared/scheduling.ts';

const quantities = z.record(z.string(), z.string());
/** An amount of storage from which buildkitd's limits are calculated. */
const storage = z.string().refine((text) => quantityValue(text) >= 1, 'must be an amount of storage, such as 20Gi');
const address = z.string().regex(/^[a-z0-9.-]+(:\d+)?$/i);

/** A registry's address, in Distribution's grammar for repository names, because image names start with it. */
const registryPattern = /^[A-Za-z0-9.-]+(:\d+)?(\/[a-z0-9]+((\.|__?|-+)[a-z0-9]+)*)*$/;

const httpUrl = z.url({ protocol: /^https?$/ });

/** A mirror, in the format that buildkitd accepts: no scheme, and no path with `..`. */
const mirror = z
  .string()
  .regex(/^[a-z0-9.-]+(:\d+)?(\/[a-z0-9]+([._-]+[a-z0-9]+)*)*\/?$/i, 'must be host[:port][/path]');

/**
 * Returns whether the mirror is the whole registry at `own`: images of another registry would then resolve to built
 * images of any group.
 */
function isRootOf(own: string, text: string): boolean {
  const plain = (one: string) => {
    const { host, path } = splitAddress(one.replace(/\/+$/, ''));
    return `${[canonicalHost(host), path].filter(Boolean).join('/')}/`;
  };
  return plain(own).startsWith(plain(text));
}

const cidr = z.union([z.cidrv4(), z.cidrv6()]);
const object = z.record(z.string(), z.unknown());

/** Scheduling fields of a pod; the API server validates affinity and tolerations. */
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

/** The operator's configuration file, which the chart generates from its values. */
const configSchema = z.strictObject({
  systemNamespace: z.string(),
  healthPort: z.int().default(3001),
  logLevel: z.enum(['debug', 'info', 'warn', 'error']).default('info'),
  redisUrl: z.url(),
  /** URL of the API, for links and webhooks. */
  apiUrl: z.url().transform((text) => new URL(text)),
  environmentsUrl: z.url().transform((text) => new URL(text)),
  /**
   * PEM of additional certificate authorities for the clones of builds; the operator itself reads them from its
   * environment.
   */
  caCertificates: z.string().min(1).optional(),
  ingress: z.strictObject({
    className: z.string().optional(),
    namespace: z.string(),
    /** Additional networks from which the Ingress controller connects. */
    cidrs: z.array(cidr).default([]),
    /** Gateways that environments' HTTPRoutes attach to; without any, environments have Ingresses. */
    parentRefs: z
      .array(
        z.strictObject({
          name: z.string().min(1),
          namespace: z.string().min(1),
          sectionName: z.string().min(1).optional(),
          port: z.int().min(1).max(65535).optional(),
        }),
      )
      .default([]),
    annotations: z.record(z.string(), z.string()).default({}),
    /** What restricts who can open environments; without it, access cannot be restricted. */
    enforcement: accessEnforcementSchema.optional(),
    clusterIssuer: z.string().optional(),
    drainSeconds: z.int().min(0).default(3),
  }),
  /** Absent if the installation has no waker. */
  waker: z.strictObject({ podLabels: z.record(z.string(), z.string()) }).optional(),
  /** Egress that the policies of environments permit. */
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
      /** Format of image names below the address (crds/image-name.ts). */
      layout: z.enum(['nested', 'flat']).default('nested'),
      insecure: z.boolean().default(false),
      /** Address of Coppice's token server and the registry's service name, if the registry uses the token server. */
      tokenAuth: z
        .strictObject({ url: httpUrl.transform((text) => new URL(text)), service: z.string().min(1) })
        .optional(),
      /** Mirrors by registry, as `host[:port][/path]`, as in buildkitd's configuration. */
      mirrors: z.record(z.string(), z.array(mirror)).default({}),
      /** Registries other than `address` that use plain HTTP. */
      insecureAddresses: z.array(address).default([]),
      /** Private networks in which registries of base images are permitted. */
      allowedCidrs: z.array(z.union([z.cidrv4(), z.cidrv6()])).default([]),
      /** Unused images are deleted after this many hours; 0 disables it. */
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
    /** Image with buildkitd, rootlesskit and buildctl. */
    image: z.string(),
    /** Name of the ConfigMap with buildkitd.toml in the builders' namespace. */
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
        /** Limit for all groups that one account created. */
        perAccount: z.int().min(1).default(8),
      })
      .prefault({ total: 16, perGroup: 4 }),
    ephemeral: z.strictObject({ maxConcurrent: z.int().min(1), storage }),
    /** Maximum size of one image's layers in the registry; larger images are not deployed. */
    maxImageSize: storage.default('10Gi'),
    resources: z.strictObject({ requests: quantities.optional(), limits: quantities.optional() }),
    scheduling,
    /** Scheduling of build Jobs, which clone and run buildctl. */
    jobScheduling: scheduling,
    /** Proxy variables for builders and build steps. */
    proxy: z.partialRecord(z.enum(['HTTP_PROXY', 'HTTPS_PROXY', 'NO_PROXY']), z.string()).default({}),
  }),
  sources: z.strictObject({
    allowedCidrs: z.array(z.union([z.cidrv4(), z.cidrv6()])).default([]),
    ports: z.array(z.int().min(1).max(65535)).default([80, 443]),
    sshPorts: z.array(z.int().min(1).max(65535)).default([22]),
    timeoutSeconds: z.int().min(1).default(20),
    deadlineSeconds: z.int().min(0).default(60),
    pollSeconds: z.int().min(10).default(300),
    /** Whether commits of forks wait for an approval, of Repositories that set nothing. */
    forkApproval: z.enum(FORK_APPROVALS).default('notRequired'),
    /** Maximum number of environments that the refs of one Repository create. */
    maxEnvironments: z.int().min(1).default(500),
    /** Maximum for all Repositories in the groups that one account created. */
    maxEnvironmentsPerAccount: z.int().min(1).default(2000),
    /** Maximum number of environments with contents that the rules of one Repository create for forks. */
    maxForkEnvironments: z.int().min(0).default(20),
    /** Addresses of the hosts for Repositories that name no instance. */
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
    /** Who can open environments whose Repository does not say. */
    defaultAccess: z.enum(DEFAULT_ACCESS_MODES).default('public'),
    /** Platform of services that set none: their images are built for it, and their pods run on it. */
    platform: z
      .string()
      .regex(/^linux\/[a-z0-9]+(\/[a-z0-9]+)?$/)
      .optional(),
    scheduling,
    rolloutDeadlineSeconds: z.int().min(1).default(300),
    jobDeadlineSeconds: z.int().min(1).default(1800),
    imageDeadlineSeconds: z.int().min(1).default(1800),
    /** Maximum number of environments with contents in groups that set no limit. */
    maxPerGroup: z.int().min(1).default(200),
    /** After how many seconds without a visit environments sleep that set nothing; 0 is never. */
    sleepAfterSeconds: z.int().min(0).default(0),
    quota: quantities,
    /** ResourceQuota of a group's published volumes. */
    reusableQuota: quantities.default({}),
    defaultRequests: quantities,
    defaultLimits: quantities,
    volumes: z.strictObject({ size: z.string(), storageClass: z.string().optional() }),
  }),
  /** Limits for the logs of finished builds. */
  buildLogs: z
    .strictObject({ buildsPerEnvironment: z.int().min(1).default(5), totalMiB: z.int().min(1).default(256) })
    .prefault({}),
  /** When the tasks of housekeeping run. */
  housekeeping: z
    .strictObject({
      timeZone: timeZoneSchema,
      schedules: z
        .strictObject({
          images: cronExpression.default('17 * * * *'),
          orphans: cronExpression.default('*/10 * * * *'),
          logs: cronExpression.default('37 * * * *'),
          certificates: cronExpression.default('47 * * * *'),
        })
        .prefault({}),
    })
    .prefault({}),
  groups: z.strictObject({
    memberRole: z.string(),
    /** Bound to members in the namespaces of environments; absent: they read nothing there. */
    environmentMemberRole: z.string().optional(),
    apiRole: z.string(),
    /** Bound to the API in the namespaces of environments; absent: it opens no shells. */
    environmentApiRole: z.string().optional(),
    /** Whether it is bound for code that is not trusted, too. */
    environmentApiForks: z.boolean().default(false),
    apiServiceAccount: z.string(),
  }),
  workers: z.int().min(1).default(16),
  /** Limits on what the commits of one account, or of a group that none created, make the operator write. */
  limits: z
    .strictObject({
      writtenMiBPerMinute: z.int().min(1).default(16),
      writtenMiBPerHour: z.int().min(1).default(256),
      storedMiBPerAccount: z.int().min(1).default(128),
    })
    .prefault({}),
});
export type OperatorConfig = z.infer<typeof configSchema>;

/** Settings from the environment, because they contain secrets or refer to them. */
const secretsSchema = z.object({
  REDIS_PASSWORD: z.string().min(1).optional(),
  /** Folder with the files `username` and `password` for the registry; absent if it needs no credentials. */
  REGISTRY_CREDENTIALS_FOLDER: z.string().min(1).optional(),
  METRICS_TOKEN: metricsTokenField,
  POD_NAME: z.string().default('operator'),
  /** URL of the tester; absent if tests are disabled. */
  TESTER_URL: httpUrl.transform((text) => new URL(text)).optional(),
  TESTER_TOKEN_FILE: z.string().default('/etc/coppice-tester/token'),
  WAKER_KEY_FILE: z.string().default('/etc/coppice-waker/key'),
});
export type OperatorSecrets = z.infer<typeof secretsSchema>;

/** Reads the configuration. Throws an Error that names every missing or invalid field, but no values. */
export async function readConfig(file: string): Promise<OperatorConfig> {
  const result = configSchema.safeParse(parse(await readFile(file, 'utf8')));
  if (result.success) return result.data;
  throw new Error(
    `the configuration file ${file} is not valid: ${faultsOf(result.error)}. Correct the chart values that set it`,
  );
}

export function readSecrets(environment: NodeJS.ProcessEnv): OperatorSecrets {
  return readVariables(secretsSchema, environment);
}
