import { z } from 'zod';
import { includedCommitSchema } from './included-repository.ts';
import { timestampSchema } from './timestamp.ts';

const buildResults = ['running', 'succeeded', 'failed', 'superseded', 'cancelled'] as const;
export type BuildResult = (typeof buildResults)[number];

/** Why a build started. */
export const BUILD_TRIGGERS = ['create', 'build', 'commit', 'rebuild', 'schedule', 'recovery'] as const;
export type BuildTrigger = (typeof BUILD_TRIGGERS)[number];

/** Maximum number of finished builds in the status: twice the number of logs kept by default. */
export const MAX_BUILD_HISTORY = 10;

/** Maximum length of the texts of a commit in the status. */
export const MAX_COMMIT_TEXT = 120;

const triggerSchema = z.enum(BUILD_TRIGGERS).meta({
  description:
    'Why the build started: new contents, a request, a new commit of the ref, a rebuild request, the schedule, or contents that were lost or became untrusted.',
});
const servedRequestSchema = z.string().max(200).meta({
  description: 'The newest build or rebuild request that started or joined this build.',
});

const commitTexts = {
  author: z.string().max(MAX_COMMIT_TEXT).optional().meta({ description: 'Author of the commit.' }),
  subject: z.string().max(MAX_COMMIT_TEXT).optional().meta({ description: 'First line of its message.' }),
};

const includedCommitsSchema = z.array(includedCommitSchema).meta({
  description: 'Commits of the included repositories; absent if there are none.',
  'x-kubernetes-list-type': 'map',
  'x-kubernetes-list-map-keys': ['name'],
});

const imageSize = z
  .int()
  .meta({ description: 'Compressed layers of the images, each layer counted once; absent if not known.' });

export const buildStatusSchema = z.object({
  number: z.int().min(1).meta({ description: 'Number of the build, counted from 1 for each environment.' }),
  result: z.enum(buildResults).meta({ description: 'State or result of the build.' }),
  trigger: triggerSchema.optional(),
  request: servedRequestSchema.optional(),
  commit: z.string().optional().meta({ description: 'Commit being built.' }),
  repositories: includedCommitsSchema.optional(),
  ...commitTexts,
  revision: z
    .string()
    .optional()
    .meta({ description: 'ID of the revision being built: a hash of commit, service file and variables.' }),
  noCache: z.boolean().optional().meta({ description: 'Whether the build uses no cache.' }),
  startedAt: timestampSchema.meta({ description: 'When the build started.' }),
  finishedAt: timestampSchema.optional().meta({ description: 'When the build ended.' }),
  message: z.string().optional().meta({ description: 'Why the build failed, or what it is waiting for.' }),
  images: z
    .array(
      z.object({
        service: z.string().meta({ description: 'Service that the image was built for.' }),
        image: z.string().meta({ description: 'The image, by digest.' }),
      }),
    )
    .optional()
    .meta({ description: 'The images by digest; absent until all that are built are in the registry.' }),
  rolloutStartedAt: timestampSchema
    .optional()
    .meta({ description: 'When the services were started with the images of the build.' }),
  previous: z
    .object({
      startedAt: timestampSchema.meta({ description: 'When it started.' }),
      finishedAt: timestampSchema.meta({ description: 'When it ended.' }),
    })
    .optional()
    .meta({ description: 'The previously finished build.' }),
  sizeBytes: imageSize.optional(),
  tests: z.int().optional().meta({ description: 'Number of tests in the service file; absent if none.' }),
});
export type BuildStatus = z.infer<typeof buildStatusSchema>;

export const finishedBuildSchema = z.object({
  number: z.int().min(1).meta({ description: 'Number of the build, counted from 1 for each environment.' }),
  result: z.enum(buildResults).meta({ description: 'How the build ended.' }),
  trigger: triggerSchema.optional(),
  request: servedRequestSchema.optional(),
  commit: z.string().optional().meta({ description: 'Commit that was built; absent if none was found.' }),
  ...commitTexts,
  startedAt: timestampSchema.meta({ description: 'When the build started.' }),
  rolloutStartedAt: timestampSchema.optional().meta({ description: 'When its services were started.' }),
  finishedAt: timestampSchema.meta({ description: 'When the build ended.' }),
  sizeBytes: imageSize.optional(),
});
export type FinishedBuild = z.infer<typeof finishedBuildSchema>;
