import { z } from 'zod';

const port = z.int().min(1).max(65535);
const texts = z.record(z.string(), z.string());

const buildSchema = z.strictObject({
  /** The build context: a folder relative to the repository's root, `.` for the root itself. */
  context: z.string(),
  /** The Dockerfile, relative to `context`; it may lie beside the context (`../docker/Dockerfile`), never outside the repository. */
  dockerfile: z.string(),
  target: z.string().optional(),
  args: texts,
});

const healthcheckSchema = z.strictObject({
  /** An argument vector, run without a shell: CMD-SHELL is `["/bin/sh", "-c", …]` here. */
  command: z.array(z.string()).min(1),
  intervalSeconds: z.int().min(1),
  timeoutSeconds: z.int().min(1),
  retries: z.int().min(1),
  startPeriodSeconds: z.int().min(0),
});

const dependencySchema = z.strictObject({ service: z.string(), condition: z.enum(['started', 'healthy']) });

const serviceSchema = z
  .strictObject({
    name: z.string(),
    build: buildSchema.optional(),
    image: z.string().optional(),
    entrypoint: z.array(z.string()).min(1).optional(),
    command: z.array(z.string()).min(1).optional(),
    environment: texts,
    /** The container's TCP ports, of `ports` and `expose`; sorted, each once. */
    ports: z.array(port),
    dependsOn: z.array(dependencySchema),
    healthcheck: healthcheckSchema.optional(),
  })
  .refine((service) => (service.build === undefined) !== (service.image === undefined), {
    error: 'a service has either build or image',
  });

const publicRouteSchema = z.strictObject({ service: z.string(), port, path: z.string().startsWith('/') });

/**
 * A service file as Coppice understands it, every default filled in. The operator stores it as JSON and parses it
 * again with this schema, so a value that it accepts must mean the same after the round trip.
 */
export const serviceFileSchema = z.strictObject({
  /** Sorted by name. */
  services: z.array(serviceSchema),
  /** What the web address of the environment leads to; no two have the same path. Empty: it has none. */
  publicRoutes: z.array(publicRouteSchema),
});

export type ServiceFile = z.infer<typeof serviceFileSchema>;
export type Service = ServiceFile['services'][number];
export type Build = NonNullable<Service['build']>;
export type Healthcheck = NonNullable<Service['healthcheck']>;
export type Dependency = Service['dependsOn'][number];
export type PublicRoute = ServiceFile['publicRoutes'][number];
