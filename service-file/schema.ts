import { z } from 'zod';

const port = z.int().min(1).max(65535);
const texts = z.record(z.string(), z.string());
const name = z.string().min(1);
/** A quantity of Kubernetes: `512Mi`, `500m`. */
const quantity = z.string().min(1);

const buildSchema = z.strictObject({
  /** Build context: a folder relative to the repository's root, `.` for the root itself. */
  context: z.string(),
  /**
   * Path of the Dockerfile, relative to `context`; can be outside the context (`../docker/Dockerfile`), but not outside
   * the repository.
   */
  dockerfile: z.string(),
  target: z.string().optional(),
  args: texts,
  /** Secrets for `RUN --mount=type=secret,id=…`, which never appear in an argument, a layer or the log. */
  secrets: z.array(z.strictObject({ id: name, bundle: name, key: name })),
  /**
   * `x-coppice.watch`: globs of the repository's files whose change rebuilds the image, instead of the whole context's.
   */
  watch: z.array(z.string()),
});

const probeTimes = {
  intervalSeconds: z.int().min(1),
  timeoutSeconds: z.int().min(1),
  retries: z.int().min(1),
  startPeriodSeconds: z.int().min(0),
};

/**
 * An argument vector, run without a shell (CMD-SHELL becomes `["/bin/sh", "-c", …]`), or an HTTP request (x-coppice).
 */
const healthcheckSchema = z
  .strictObject({
    command: z.array(z.string()).min(1).optional(),
    http: z.strictObject({ path: z.string().startsWith('/'), port }).optional(),
    ...probeTimes,
  })
  .refine(({ command, http }) => (command === undefined) !== (http === undefined), {
    error: 'a health check is either a command or a request',
  });

const dependencySchema = z.strictObject({
  service: name,
  condition: z.enum(['started', 'healthy', 'completed']),
});

/** A mount of a container. */
const mountSchema = z.discriminatedUnion('type', [
  z.strictObject({
    type: z.literal('volume'),
    volume: name,
    target: z.string().startsWith('/'),
    readOnly: z.boolean(),
    subPath: z.string().optional(),
  }),
  /** An anonymous volume or a tmpfs, which is empty at each start. */
  z.strictObject({
    type: z.literal('empty'),
    target: z.string().startsWith('/'),
    memory: z.boolean(),
    size: quantity.optional(),
  }),
  /** Read-only files of a bundle; with `key` that one file at `target`, otherwise all of them below it. */
  z.strictObject({ type: z.literal('files'), bundle: name, target: z.string().startsWith('/'), key: name.optional() }),
]);

const serviceSchema = z
  .strictObject({
    name,
    /** `once`: a Job at each build (`restart: "no"`); `once per volume`: only when the volume `seeds` is new. */
    runs: z.enum(['continuously', 'once', 'once per volume']),
    seeds: name.optional(),
    build: buildSchema.optional(),
    image: z.string().optional(),
    /** The service whose image this job runs. */
    imageOf: name.optional(),
    /** `linux/amd64` */
    platform: z.string().optional(),
    /** Undefined to use that of the image. */
    entrypoint: z.array(z.string()).min(1).optional(),
    command: z.array(z.string()).min(1).optional(),
    environment: texts,
    /** The container's TCP ports, of `ports` and `expose`; sorted and unique. */
    ports: z.array(port),
    udpPorts: z.array(port),
    dependsOn: z.array(dependencySchema),
    healthcheck: healthcheckSchema.optional(),
    /** Sorted by target, which is unique. */
    mounts: z.array(mountSchema),
    /** Services that share a network can connect to each other; sorted. Empty for `network_mode: none`. */
    networks: z.array(name),
    /** Additional host names of the service. */
    aliases: z.array(name),
    hostname: z.string().optional(),
    extraHosts: z.array(z.strictObject({ ip: z.string(), hostnames: z.array(z.string()) })),
    user: z.strictObject({ uid: z.int().min(0), gid: z.int().min(0).optional() }).optional(),
    groups: z.array(z.int().min(0)),
    workingDir: z.string().optional(),
    labels: texts,
    /** Whether process 1 is an init process that reaps orphaned processes. */
    init: z.boolean(),
    tty: z.boolean(),
    stdin: z.boolean(),
    stopSignal: z.string().optional(),
    stopGracePeriodSeconds: z.int().min(0),
    readOnly: z.boolean(),
    /** Without `CAP_`. */
    capAdd: z.array(z.string()),
    capDrop: z.array(z.string()),
    sysctls: texts,
    replicas: z.int().min(0).max(100),
    resources: z.strictObject({
      requests: z.strictObject({ cpu: quantity.optional(), memory: quantity.optional() }),
      limits: z.strictObject({ cpu: quantity.optional(), memory: quantity.optional() }),
    }),
  })
  .refine(
    ({ build, image, imageOf }) => [build, image, imageOf].filter((origin) => origin !== undefined).length === 1,
    { error: 'a service must have exactly one of build, image and imageOf' },
  );

/** `alias`: a separate host, whose label is `<alias>` before the environment's; without it, the environment's host. */
const publicRouteSchema = z.strictObject({
  service: name,
  port,
  path: z.string().startsWith('/'),
  alias: name.optional(),
});

/** A named volume, which is deleted with the environment's contents. */
const volumeSchema = z.strictObject({ name, size: quantity.optional(), storageClass: z.string().optional() });

const bundledFileSchema = z.strictObject({
  /** Unique in the bundle. */
  key: name,
  path: z.string(),
  mode: z.int().min(0).max(0o777),
  /** The object with the content, named by a hash of what it contains, and the key in it; absent if an older Coppice stored it. */
  stored: z.strictObject({ object: name, key: name, bytes: z.int().min(0) }).optional(),
});

/**
 * Files that containers or builds read: from the repository, `configs` or `secrets`. Their contents are stored
 * separately; `name` contains their hash, so equal names mean equal contents.
 */
const fileBundleSchema = z.strictObject({
  name,
  /** Whether the contents are stored in Secrets. */
  secret: z.boolean(),
  files: z.array(bundledFileSchema),
});

/** Maximum number of repositories that a service file includes. */
export const MAX_INCLUDED = 5;

/** Another repository of the group, whose services join those of the file. */
const includedRepositorySchema = z.strictObject({
  name,
  /** The branch to take if there is none of the name of the environment's. */
  fallback: name.optional(),
  /** The alias of its public routes that name none. */
  alias: name.optional(),
});

/** A test that runs against a built environment; `params` are those of the type, without the address. */
const environmentTestSchema = z.strictObject({ name, type: name, params: z.record(z.string(), z.json()) });

/**
 * A service file as Coppice understands it, with all defaults filled in. The operator stores it as JSON and parses it
 * with this schema, so an accepted value must be the same after the round trip.
 */
export const serviceFileSchema = z.strictObject({
  /** Sorted by name. */
  services: z.array(serviceSchema),
  /** Targets of the environment's web addresses, with unique alias and path. Empty if it has none. */
  publicRoutes: z.array(publicRouteSchema),
  /** Sorted by name, as the bundles. */
  volumes: z.array(volumeSchema),
  bundles: z.array(fileBundleSchema),
  /** Label of the reusable environment that a build publishes, if the Repository permits its ref. */
  reusable: name.optional(),
  /** Label of the reusable environment that seeds new contents. */
  from: name.optional(),
  /** In the file's order, as the tests; absent if there are none. */
  repositories: z.array(includedRepositorySchema).min(1).max(MAX_INCLUDED).optional(),
  tests: z.array(environmentTestSchema).min(1).optional(),
});

export type ServiceFile = z.infer<typeof serviceFileSchema>;
export type Service = ServiceFile['services'][number];
export type Build = NonNullable<Service['build']>;
export type Healthcheck = NonNullable<Service['healthcheck']>;
export type Dependency = Service['dependsOn'][number];
export type Mount = Service['mounts'][number];
export type PublicRoute = ServiceFile['publicRoutes'][number];
export type Volume = ServiceFile['volumes'][number];
export type IncludedRepository = NonNullable<ServiceFile['repositories']>[number];
export type EnvironmentTest = NonNullable<ServiceFile['tests']>[number];
export type FileBundle = ServiceFile['bundles'][number];

/** Defaults of a service whose file sets only its image or build. */
export const SERVICE_DEFAULTS: Omit<Service, 'name'> = {
  runs: 'continuously',
  environment: {},
  ports: [],
  udpPorts: [],
  dependsOn: [],
  mounts: [],
  networks: ['default'],
  aliases: [],
  extraHosts: [],
  groups: [],
  labels: {},
  init: false,
  tty: false,
  stdin: false,
  stopGracePeriodSeconds: 10,
  readOnly: false,
  capAdd: [],
  capDrop: [],
  sysctls: {},
  replicas: 1,
  resources: { requests: {}, limits: {} },
};

export const BUILD_DEFAULTS: Build = { context: '.', dockerfile: 'Dockerfile', args: {}, secrets: [], watch: [] };
