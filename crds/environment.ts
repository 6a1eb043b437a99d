import { z } from 'zod';
import { kindAddress } from './api-group.ts';
import { conditionsSchema } from './conditions.ts';
import { displayNameSchema } from './display-name.ts';
import { testsStatusSchema } from './environment-tests.ts';
import { gitRefRules, gitRefSchema } from './git-ref.ts';
import { objectSchema } from './metadata.ts';
import { handledRequestsSchema } from './requests.ts';

/** Contract section 3. */
export const ENVIRONMENT_STATES = ['empty', 'created', 'building', 'built'] as const;
export type EnvironmentState = (typeof ENVIRONMENT_STATES)[number];

const BUILD_RESULTS = ['running', 'succeeded', 'failed', 'superseded', 'cancelled'] as const;
export type BuildResult = (typeof BUILD_RESULTS)[number];

/** Why a build started. */
export const BUILD_TRIGGERS = ['create', 'build', 'commit', 'rebuild', 'schedule', 'recovery'] as const;
export type BuildTrigger = (typeof BUILD_TRIGGERS)[number];

/** How many finished builds the status keeps: two for each whose log is kept by default. */
export const MAX_BUILD_HISTORY = 10;

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
  gitRef: gitRefSchema.meta({
    'x-kubernetes-validations': [...gitRefRules, ...immutable('gitRef')['x-kubernetes-validations']],
  }),
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
  suspend: z.boolean().optional().meta({
    description: 'Nothing is done for it meanwhile but to delete it: what runs runs on, requests and the TTL wait.',
  }),
});

const activationSchema = z.object({
  active: z.boolean().meta({ description: 'Whether contents are wanted.' }),
  since: time.meta({ description: 'When that was decided.' }),
  reason: z
    .enum(['Spec', 'CreateRequest', 'DeleteRequest', 'RebuildRequest', 'Schedule', 'Expired'])
    .meta({ description: 'What decided it.' }),
  specActive: z.boolean().meta({ description: 'The last seen spec.active: a difference is an event.' }),
  buildPending: z.boolean().meta({ description: 'A build was asked for and has not started.' }),
  rebuild: z
    .boolean()
    .optional()
    .meta({ description: 'The contents go, come again, and are built without cache; true until that build starts.' }),
});

const ttlSchema = z.object({
  seconds: z.int().min(0).meta({ description: '0 means none.' }),
  since: time.meta({ description: 'When it was set; the seconds count from here.' }),
  specSeconds: z.int().optional().meta({ description: 'The last seen spec.ttlSeconds: a difference is an event.' }),
});

const triggerSchema = z.enum(BUILD_TRIGGERS).meta({
  description:
    'Why it started: new contents, a request, a new commit of the ref, a rebuild request, the schedule, or contents that were lost or lost their rights.',
});
const servedRequestSchema = z.string().max(200).meta({
  description: 'The newest build or rebuild request that it serves: the one it started for, or that joined it.',
});

export const buildStatusSchema = z.object({
  number: z.int().min(1).meta({ description: 'Builds of an environment count from 1.' }),
  result: z.enum(BUILD_RESULTS).meta({ description: 'How the build ended, or that it is running.' }),
  trigger: triggerSchema.optional(),
  request: servedRequestSchema.optional(),
  commit: z.string().optional().meta({ description: 'Commit that is built.' }),
  version: z
    .string()
    .optional()
    .meta({ description: 'What the build was planned as: commit, service file, variables.' }),
  noCache: z.boolean().optional().meta({ description: 'Whether the build uses no cache.' }),
  startedAt: time.meta({ description: 'When the build started.' }),
  finishedAt: time.optional().meta({ description: 'When the build ended.' }),
  message: z.string().optional().meta({ description: 'Why the build failed, or what it waits for.' }),
  images: z
    .array(
      z.object({
        service: z.string().meta({ description: 'Service that the image was built for.' }),
        image: z.string().meta({ description: 'The image, by digest.' }),
      }),
    )
    .optional()
    .meta({ description: 'What was built, by digest; absent until every image is in the registry.' }),
  rolloutStartedAt: time
    .optional()
    .meta({ description: 'When the services were started with the images of the build.' }),
  previous: z
    .object({
      startedAt: time.meta({ description: 'When it started.' }),
      finishedAt: time.meta({ description: 'When it ended.' }),
    })
    .optional()
    .meta({ description: 'The build before that finished: the last one that did, while this one runs.' }),
  sizeBytes: z.int().optional().meta({ description: 'Compressed layers of the images, each layer counted once.' }),
  tests: z.int().optional().meta({ description: 'How many tests the service file names; absent: none.' }),
});
export type BuildStatus = z.infer<typeof buildStatusSchema>;

const finishedBuildSchema = z.object({
  number: z.int().min(1).meta({ description: 'Builds of an environment count from 1.' }),
  result: z.enum(BUILD_RESULTS).meta({ description: 'How the build ended.' }),
  trigger: triggerSchema.optional(),
  request: servedRequestSchema.optional(),
  commit: z.string().optional().meta({ description: 'Commit that was built; absent when none was found.' }),
  startedAt: time.meta({ description: 'When the build started.' }),
  finishedAt: time.meta({ description: 'When the build ended.' }),
});
export type FinishedBuild = z.infer<typeof finishedBuildSchema>;

const seedSchema = z.object({
  label: z.string().meta({ description: 'Label of the reusable environment.' }),
  result: z.enum(['running', 'copied']).meta({ description: 'How far the copy is.' }),
  reusableUID: z.string().meta({ description: 'UID of the ReusableEnvironment.' }),
  publication: z.string().meta({ description: 'Which publication of it is copied.' }),
  volumes: z
    .array(
      z.object({
        name: z.string().meta({ description: 'The volume, as the service file names it.' }),
        claim: z.string().meta({ description: "PersistentVolumeClaim of the publication's copy." }),
        size: z.string().meta({ description: 'Size that the copy requests.' }),
      }),
    )
    .meta({ description: 'The volumes to copy.' }),
});
export type SeedStatus = z.infer<typeof seedSchema>;

const publicationSchema = z.object({
  label: z.string().meta({ description: 'Label that it is published as.' }),
  build: z.int().min(1).meta({ description: 'Number of the build that is published.' }),
  result: z
    .enum(['running', 'succeeded', 'failed'])
    .meta({ description: 'How the publication ended, or that it is running.' }),
  stoppingSince: time
    .optional()
    .meta({ description: 'Services are stopped for it, and since then pods still have its volumes.' }),
});

const feedbackSchema = z.object({
  commit: z.string().optional().meta({ description: 'Whose status was written last.' }),
  state: z
    .enum(['pending', 'success', 'failure', 'error'])
    .optional()
    .meta({ description: 'State of that commit status.' }),
  status: z.string().optional().meta({ description: 'A hash of the commit status as it was written.' }),
  commentId: z.string().optional().meta({ description: "The pull request's comment, by its id at the Git host." }),
  comment: z.string().optional().meta({ description: 'A hash of the comment as it was written.' }),
  tests: z
    .object({
      commit: z.string().meta({ description: 'Commit whose status it is.' }),
      state: z.enum(['pending', 'success', 'failure', 'error']).meta({ description: 'State of the commit status.' }),
      hash: z.string().meta({ description: 'Hash of the commit status as it was written.' }),
    })
    .optional()
    .meta({ description: 'The commit status of the tests as it was written last, and a hash of it.' }),
  refused: z
    .string()
    .optional()
    .meta({ description: 'A hash of what the Git host refused: it is not tried again as it is.' }),
});
export type FeedbackStatus = z.infer<typeof feedbackSchema>;

export const environmentStatusSchema = z.object({
  observedGeneration: z.int().optional().meta({ description: 'The `metadata.generation` that the operator has seen.' }),
  state: z.enum(ENVIRONMENT_STATES).optional().meta({ description: 'How far the contents are.' }),
  activation: activationSchema.optional().meta({ description: 'Whether contents are wanted, and since when.' }),
  ttl: ttlSchema.optional().meta({ description: 'The time to live of the contents.' }),
  schedule: z
    .object({
      setting: z.string().meta({ description: 'Mode, hour and time zone of the schedule.' }),
      since: time.meta({ description: 'When it was first seen: it counts from here.' }),
    })
    .optional()
    .meta({ description: "The repository's scheduled rebuild, as far as this environment takes part in it." }),
  expiresAt: time.optional().meta({ description: 'When the contents are deleted by their time to live.' }),
  handledRequests: handledRequestsSchema
    .optional()
    .meta({ description: 'The one-off requests that were handled, by name.' }),
  namespaceUID: z.string().optional().meta({ description: 'Of the namespace that the contents are in.' }),
  commit: z.string().optional().meta({ description: 'The commit that the contents were planned from.' }),
  version: z.string().optional().meta({ description: 'What the contents were planned as.' }),
  fromFork: z
    .boolean()
    .optional()
    .meta({ description: 'Of a pull request: whether its commits come from another repository; absent: not known.' }),
  seed: seedSchema.optional().meta({ description: 'The reusable environment that the volumes began with.' }),
  publication: publicationSchema.optional().meta({ description: 'The last publication as a reusable environment.' }),
  feedback: feedbackSchema
    .optional()
    .meta({ description: 'What the Git host was told; written by its reporter alone.' }),
  webURL: z.string().optional().meta({
    description: 'Web address of the environment; absent once the services are set up and none of them is public.',
  }),
  aliases: z
    .record(z.string(), z.string())
    .optional()
    .meta({ description: "The web addresses of the service file's aliases." }),
  services: z
    .array(
      z.object({
        name: z.string().meta({ description: 'Name of the service.' }),
        image: z.string().optional().meta({ description: 'Image that the service runs.' }),
        ready: z.boolean().meta({ description: 'It runs what it should; a job: it has completed.' }),
        restarts: z.int().optional().meta({ description: 'How often its containers were started again.' }),
        lastTermination: z
          .object({
            reason: z.string().meta({ description: 'As the kubelet says: `Completed`, `Error`, `OOMKilled`.' }),
            exitCode: z.int().meta({ description: 'Exit code of the container.' }),
            finishedAt: time.meta({ description: 'When it ended.' }),
          })
          .optional()
          .meta({ description: 'How a container of it ended last; absent where none of its pods has had one end.' }),
        message: z.string().optional().meta({ description: 'Why it is not ready.' }),
      }),
    )
    .optional()
    .meta({
      description: 'The services of the environment.',
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['name'],
    }),
  build: buildStatusSchema.optional().meta({ description: 'The last build.' }),
  builds: z
    .array(finishedBuildSchema)
    .max(MAX_BUILD_HISTORY)
    .optional()
    .meta({ description: 'The builds that finished last, the newest first.' }),
  deployed: buildStatusSchema
    .optional()
    .meta({ description: 'The last build that came up: what runs, and what a failed one falls back to.' }),
  volumes: z
    .object({
      build: z.int().meta({ description: 'They were measured after this build had come up.' }),
      usedBytes: z.int().meta({ description: 'What blocks hold of the files of all volumes.' }),
    })
    .optional()
    .meta({ description: 'What the volumes hold; written by what measures them alone.' }),
  tests: testsStatusSchema
    .optional()
    .meta({ description: 'The tests of what runs; written by what has them run alone.' }),
  conditions: conditionsSchema.optional(),
});

export const environmentSchema = objectSchema(environmentSpecSchema, environmentStatusSchema);
export type Environment = z.infer<typeof environmentSchema> & { apiVersion: string; kind: string };
export type EnvironmentSpec = z.infer<typeof environmentSpecSchema>;
export type EnvironmentStatus = z.infer<typeof environmentStatusSchema>;

export const ENVIRONMENT = kindAddress('Environment', 'environments', true);
