import { z } from 'zod';

const port = z.int().min(1).max(65535);
const texts = z.record(z.string(), z.string());
const name = z.string().min(1);
/** Kubernetes' notation of an amount: `512Mi`, `500m`. */
const quantity = z.string().min(1);

const buildSchema = z.strictObject({
  /** The build context: a folder relative to the repository's root, `.` for the root itself. */
  context: z.string(),
  /** The Dockerfile, relative to `context`; it may lie beside the context (`../docker/Dockerfile`), never outside the repository. */
  dockerfile: z.string(),
  target: z.string().optional(),
  args: texts,
  /** Secrets for `RUN --mount=type=secret,id=…`: never in an argument, a layer or the log. */
  secrets: z.array(z.strictObject({ id: name, bundle: name, key: name })),
  /** `x-coppice.watch`: globs of the repository's files whose change builds the image anew, in place of the whole context's. */
  watch: z.array(z.string()),
});

const probeTimes = {
  intervalSeconds: z.int().min(1),
  timeoutSeconds: z.int().min(1),
  retries: z.int().min(1),
  startPeriodSeconds: z.int().min(0),
};

/** An argument vector, run without a shell (CMD-SHELL is `["/bin/sh", "-c", …]` here), or a request (x-coppice). */
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

/** What a container sees at a path of its own. */
const mountSchema = z.discriminatedUnion('type', [
  z.strictObject({
    type: z.literal('volume'),
    volume: name,
    target: z.string().startsWith('/'),
    readOnly: z.boolean(),
    subPath: z.string().optional(),
  }),
  /** An anonymous volume or a tmpfs: empty at each start. */
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
    /** The service whose image this one runs: a job of that service. */
    imageOf: name.optional(),
    /** `linux/amd64` */
    platform: z.string().optional(),
    /** Undefined: the image's own. */
    entrypoint: z.array(z.string()).min(1).optional(),
    command: z.array(z.string()).min(1).optional(),
    environment: texts,
    /** The container's TCP ports, of `ports` and `expose`; sorted, each once. */
    ports: z.array(port),
    udpPorts: z.array(port),
    dependsOn: z.array(dependencySchema),
    healthcheck: healthcheckSchema.optional(),
    /** Sorted by target; no two have the same. */
    mounts: z.array(mountSchema),
    /** Services see each other when they share one; sorted. Empty: none (`network_mode: none`). */
    networks: z.array(name),
    /** Other host names of the service. */
    aliases: z.array(name),
    hostname: z.string().optional(),
    extraHosts: z.array(z.strictObject({ ip: z.string(), hostnames: z.array(z.string()) })),
    user: z.strictObject({ uid: z.int().min(0), gid: z.int().min(0).optional() }).optional(),
    groups: z.array(z.int().min(0)),
    workingDir: z.string().optional(),
    labels: texts,
    /** Process 1 is one that reaps what is left behind. */
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
    { error: 'a service has one of build, image and imageOf' },
  );

/** `alias`: a host of its own, `<alias>` before the environment's; without it the environment's host. */
const publicRouteSchema = z.strictObject({
  service: name,
  port,
  path: z.string().startsWith('/'),
  alias: name.optional(),
});

/** A named volume: it lives as long as the environment's contents. */
const volumeSchema = z.strictObject({ name, size: quantity.optional(), storageClass: z.string().optional() });

/**
 * Files that containers or builds see: of the repository, of `configs` or of `secrets`. The contents are kept beside
 * the service file; `name` is made of their hash, so the same name is the same contents.
 */
const fileBundleSchema = z.strictObject({
  name,
  /** Kept as a Secret. */
  secret: z.boolean(),
  files: z.array(z.strictObject({ key: name, path: z.string(), mode: z.int().min(0).max(0o777) })),
});

/** What is tried out on an environment that was built; `params` are the type's own, without the address. */
const environmentTestSchema = z.strictObject({ name, type: name, params: z.record(z.string(), z.json()) });

/**
 * A service file as Coppice understands it, every default filled in. The operator stores it as JSON and parses it
 * again with this schema, so a value that it accepts must mean the same after the round trip.
 */
export const serviceFileSchema = z.strictObject({
  /** Sorted by name. */
  services: z.array(serviceSchema),
  /** What the web addresses of the environment lead to; no two have the same alias and path. Empty: it has none. */
  publicRoutes: z.array(publicRouteSchema),
  /** Sorted by name, as are the bundles. */
  volumes: z.array(volumeSchema),
  bundles: z.array(fileBundleSchema),
  /** The label of the reusable environment that a build of the file makes, where the Repository lets its ref. */
  reusable: name.optional(),
  /** The label of the reusable environment that new contents start with. */
  from: name.optional(),
  /** In the file's order; absent: none. */
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
export type EnvironmentTest = NonNullable<ServiceFile['tests']>[number];
export type FileBundle = ServiceFile['bundles'][number];

/** What a service is when its file says no more than where its image comes from. */
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
