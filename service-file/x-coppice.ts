import { z } from 'zod';

// Editors see the file before variables are filled in, so a text with a $ can become anything.
const port = z.union([z.int().min(1).max(65_535), z.string().regex(/^\d{1,5}$|\$/)]);
const command = z.union([z.string(), z.array(z.string()).min(1)]);
const path = z.string().regex(/^\/|\$/);
const duration = z.string().meta({ examples: ['10s', '1m30s'] });

/** A map with only these keys. */
function closed<Shape extends z.ZodRawShape>(shape: Shape) {
  return z.strictObject(shape, { error: (issue) => (issue.code === 'unrecognized_keys' ? 'x-coppice' : undefined) });
}

const route = closed({
  port: port.describe("One of the service's ports."),
  path: path.optional().describe('The path prefix that is routed to the port; default /.'),
  alias: z.string().optional().describe("A separate host, whose name is the alias before the environment's."),
});

const healthcheck = closed({
  path: path.optional().describe('The path to request; default /.'),
  port: port.describe("One of the service's ports."),
  interval: duration.optional(),
  timeout: duration.optional(),
  retries: z.union([z.int().min(1), z.string().regex(/^\d+$|\$/)]).optional(),
  start_period: duration.optional(),
});

const job = closed({
  name: z.string().describe('The job becomes the service <service>-<name>.'),
  command: command.describe("Runs with the service's image, environment and volumes, before the service starts."),
});

const seed = closed({
  volume: z.string().describe('A named volume that the service mounts.'),
  command: command.describe('Runs once for each new volume, before the service starts.'),
});

/** Schema of a service's `x-coppice`. */
export const serviceExtension = closed({
  public: z.array(route).optional().describe("The routes from the environment's web addresses to the service."),
  healthcheck: healthcheck.optional().describe('An HTTP request that succeeds when the service is ready.'),
  jobs: z.array(job).optional().describe('Commands that run at each build before the service starts.'),
  seed: seed.optional().describe('The command that fills a new volume.'),
  watch: z
    .array(z.string())
    .optional()
    .describe("Globs of the repository's files whose change rebuilds the service, instead of the whole build context."),
}).describe("Coppice's extension for a service.");

/** Schema of a named volume's `x-coppice`. */
export const volumeExtension = closed({
  size: z
    .string()
    .optional()
    .meta({ description: 'The size of the volume.', examples: ['1Gi', '500M'] }),
  class: z.string().optional().describe('The storage class of the volume.'),
}).describe("Coppice's extension for a volume.");

const reusableLabel = z.string().regex(/^[a-z0-9-]{1,40}$|\$/);

const environmentTest = closed({
  name: z
    .string()
    .regex(/^[a-z]([a-z0-9-]{0,38}[a-z0-9])?$|\$/)
    .describe('The name of the test in results and in the commit status.'),
  type: z.string().describe('The test type, such as http or page.'),
  params: z
    .record(z.string(), z.unknown())
    .optional()
    .describe(
      "Parameters by the type's own schema; the address of the environment is added. Variables are not filled in.",
    ),
});

const includedRepository = closed({
  name: z
    .string()
    .regex(/^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$|\$/)
    .describe('The name of a Repository of the same group.'),
  fallback: z
    .string()
    .optional()
    .describe("The branch to take if the repository has none of the name of the environment's."),
  alias: z.string().optional().describe('The alias of its public routes that name none.'),
});

/** Schema of the file's top-level `x-coppice`. */
export const fileExtension = closed({
  reusable: reusableLabel.optional().describe('The label of the reusable environment that a build publishes.'),
  from: reusableLabel.optional().describe('The label of the reusable environment that seeds new volumes.'),
  repositories: z
    .array(includedRepository)
    .optional()
    .describe('Other repositories of the group, whose services join the environment.'),
  tests: z.array(environmentTest).optional().describe('Tests that run against the environment after each build.'),
}).describe("Coppice's extension for the whole file.");

/**
 * Schema of a service file with only the positions of x-coppice, before variables are filled in; ignores everything
 * else.
 */
export const extendedFile = z
  .looseObject({
    'x-coppice': fileExtension.nullable().optional(),
    services: z.record(z.string(), z.looseObject({ 'x-coppice': serviceExtension.nullable().optional() })).optional(),
    volumes: z
      .record(z.string(), z.looseObject({ 'x-coppice': volumeExtension.nullable().optional() }).nullable())
      .optional(),
  })
  .meta({ title: "x-coppice, Coppice's extension of the Compose Specification" });
