import { z } from 'zod';
import { kindAddress } from './api-group.ts';
import { conditionsSchema } from './conditions.ts';
import { displayNameSchema } from './display-name.ts';
import { gitRefSchema } from './git-ref.ts';
import { objectSchema } from './metadata.ts';
import { handledRequestsSchema } from './requests.ts';

/** Contract section 3. */
const ENVIRONMENT_STATES = ['empty', 'created', 'building', 'built'] as const;
export type EnvironmentState = (typeof ENVIRONMENT_STATES)[number];

const BUILD_RESULTS = ['running', 'succeeded', 'failed', 'superseded', 'cancelled'] as const;
export type BuildResult = (typeof BUILD_RESULTS)[number];

const immutable = (field: string) => ({
  'x-kubernetes-validations': [{ rule: 'self == oldSelf', message: `${field} cannot be changed` }],
});
const time = z.iso.datetime({ offset: true }).meta({ format: 'date-time' });

export const environmentSpecSchema = z.object({
  displayName: displayNameSchema,
  repository: z
    .string()
    .min(1)
    .max(63)
    .meta({ description: 'Name of the Repository in the same namespace.', ...immutable('repository') }),
  gitRef: gitRefSchema.meta(immutable('gitRef')),
  active: z.boolean().default(true).meta({
    description: 'Whether the environment has contents. A change decides, as a create or delete request does.',
  }),
  buildOnCreate: z
    .boolean()
    .default(true)
    .meta({ description: 'Whether setting up the contents because of `active` is followed by a build.' }),
  ttlSeconds: z
    .int()
    .min(0)
    .max(10 * 365 * 24 * 3600)
    .optional()
    .meta({
      description:
        'Seconds that the contents live, counted from when this was set or the contents were asked for; none when absent or 0.',
    }),
});

const activationSchema = z.object({
  active: z.boolean().meta({ description: 'Whether contents are wanted.' }),
  since: time,
  reason: z.enum(['Spec', 'CreateRequest', 'DeleteRequest', 'Expired']),
  specActive: z.boolean().meta({ description: 'The last seen spec.active: a difference is an event.' }),
  buildPending: z.boolean().meta({ description: 'A build was asked for and has not started.' }),
});

const ttlSchema = z.object({
  seconds: z.int().min(0).meta({ description: '0 means none.' }),
  since: time.meta({ description: 'When it was set; the seconds count from here.' }),
  specSeconds: z.int().optional().meta({ description: 'The last seen spec.ttlSeconds: a difference is an event.' }),
});

const buildStatusSchema = z.object({
  number: z.int().min(1),
  result: z.enum(BUILD_RESULTS),
  commit: z.string().optional(),
  startedAt: time,
  finishedAt: time.optional(),
  message: z.string().optional(),
  images: z
    .array(z.object({ service: z.string(), image: z.string() }))
    .optional()
    .meta({ description: 'What was built, by digest; absent until every image is in the registry.' }),
  rolloutStartedAt: time.optional(),
  sizeBytes: z.int().optional().meta({ description: 'Compressed layers of the images, each layer counted once.' }),
});
export type BuildStatus = z.infer<typeof buildStatusSchema>;

export const environmentStatusSchema = z.object({
  observedGeneration: z.int().optional(),
  state: z.enum(ENVIRONMENT_STATES).optional(),
  activation: activationSchema.optional(),
  ttl: ttlSchema.optional(),
  expiresAt: time.optional(),
  handledRequests: handledRequestsSchema.optional(),
  namespaceUID: z.string().optional().meta({ description: 'Of the namespace that the contents are in.' }),
  commit: z.string().optional().meta({ description: 'The commit that the contents were planned from.' }),
  webURL: z.string().optional(),
  services: z
    .array(z.object({ name: z.string(), image: z.string().optional(), ready: z.boolean() }))
    .optional()
    .meta({ 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['name'] }),
  build: buildStatusSchema.optional().meta({ description: 'The last build.' }),
  deployed: buildStatusSchema
    .optional()
    .meta({ description: 'The last build that came up: what runs, and what a failed one falls back to.' }),
  conditions: conditionsSchema.optional(),
});

export const environmentSchema = objectSchema(environmentSpecSchema, environmentStatusSchema);
export type Environment = z.infer<typeof environmentSchema> & { apiVersion: string; kind: string };
export type EnvironmentSpec = z.infer<typeof environmentSpecSchema>;
export type EnvironmentStatus = z.infer<typeof environmentStatusSchema>;

export const ENVIRONMENT = kindAddress('Environment', 'environments', true);
