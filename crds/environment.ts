import { z } from 'zod';
import { ACCESS_MODES, accessFields } from './access.ts';
import { buildStatusSchema, finishedBuildSchema, MAX_BUILD_HISTORY } from './environment-build.ts';
import { kindAddress } from './api-group.ts';
import { conditionsSchema } from './conditions.ts';
import { displayNameSchema } from './display-name.ts';
import { testsStatusSchema } from './environment-tests.ts';
import { GIT_REF_RULES, gitRefSchema } from './git-ref.ts';
import { includedRepositorySchema } from './included-repository.ts';
import { objectSchema } from './metadata.ts';
import { handledRequestsSchema, MAX_APPROVAL, MAX_APPROVER } from './requests.ts';
import { overridingVariablesSchema, secretKeyRefSchema } from './variable.ts';
import { endedLinksSchema } from './ended-links.ts';
import { sleepSettingsSchema, sleepStatusSchema } from './sleep.ts';
import { timestampSchema } from './timestamp.ts';

/** The environment states of the REST API. */
export const ENVIRONMENT_STATES = ['empty', 'created', 'building', 'built'] as const;
export type EnvironmentState = (typeof ENVIRONMENT_STATES)[number];

/** Maximum number of approved commits in the status. */
export const MAX_APPROVALS = 10;

const immutable = (field: string) => ({
  'x-kubernetes-validations': [
    { rule: 'self == oldSelf', message: `${field} cannot be changed. Create another Environment` },
  ],
});

const overridesSchema = z
  .object({
    variables: overridingVariablesSchema,
    serviceFile: z
      .object({
        content: z.string().max(8192).optional().meta({ description: 'YAML; a longer one needs a Secret.' }),
        contentFrom: z.object({ secretKeyRef: secretKeyRefSchema }).optional().meta({
          description: 'A key of a Secret in the namespace of the group that holds the content, in place of `content`.',
        }),
      })
      .optional()
      .meta({
        description: 'A service file that is merged over that of the repository and its settings.',
        'x-kubernetes-validations': [
          { rule: 'has(self.content) != has(self.contentFrom)', message: 'needs either content or contentFrom' },
        ],
      }),
  })
  .meta({
    description:
      'What differs from the Repository in this environment alone, from its next build on. Has no effect on code that is not trusted.',
  });
export type OverridesSpec = z.infer<typeof overridesSchema>;

export const environmentSpecSchema = z.object({
  displayName: displayNameSchema,
  repository: z
    .string()
    .min(1)
    .max(63)
    .meta({ description: 'Name of the Repository in the same namespace.', ...immutable('repository') }),
  gitRef: gitRefSchema.meta({
    'x-kubernetes-validations': [...GIT_REF_RULES, ...immutable('gitRef')['x-kubernetes-validations']],
  }),
  active: z.boolean().default(true).meta({
    description: 'Whether the environment has contents. A change has the effect of a create or delete request.',
  }),
  buildOnCreate: z
    .boolean()
    .default(true)
    .meta({ description: 'Whether a build follows when `active` sets up the contents.' }),
  ttlSeconds: z
    .int()
    .min(0)
    .max(10 * 365 * 24 * 3600)
    .optional()
    .meta({
      description:
        'Time to live of the contents in seconds, counted from when this was set or the contents were requested; unlimited when absent or 0.',
    }),
  ...accessFields("the Repository's"),
  endedLinks: endedLinksSchema.optional(),
  overrides: overridesSchema.optional(),
  sleep: sleepSettingsSchema.optional(),
  suspend: z.boolean().optional().meta({
    description:
      'Suspends reconciliation, except deletion: deployed services keep running, requests and the TTL are deferred.',
  }),
});

const activationSchema = z.object({
  active: z.boolean().meta({ description: 'Whether the environment is to have contents.' }),
  since: timestampSchema.meta({ description: 'When this was decided.' }),
  reason: z
    .enum(['Spec', 'CreateRequest', 'DeleteRequest', 'RebuildRequest', 'Schedule', 'Expired'])
    .meta({ description: 'What caused the last transition.' }),
  specActive: z.boolean().meta({ description: 'The last observed spec.active; a difference causes a transition.' }),
  buildPending: z.boolean().meta({ description: 'Whether a requested build has not started yet.' }),
  rebuild: z.boolean().optional().meta({
    description:
      'Whether the contents are deleted, created again and built without cache; true until that build starts.',
  }),
});

const ttlSchema = z.object({
  seconds: z.int().min(0).meta({ description: '0 means none.' }),
  since: timestampSchema.meta({ description: 'When it was set; the seconds count from then.' }),
  specSeconds: z
    .int()
    .optional()
    .meta({ description: 'The last observed spec.ttlSeconds; a difference restarts the TTL.' }),
});

const approvalSchema = z.object({
  waitingCommit: z.string().optional().meta({
    description: 'The newest commit of a fork, which is not built until it is approved; absent if none waits.',
  }),
  request: z.string().max(MAX_APPROVAL).optional().meta({ description: 'Value of the last handled approve request.' }),
  commits: z
    .array(
      z.object({
        commit: z.string().meta({ description: 'The approved commit.' }),
        by: z.string().max(MAX_APPROVER).optional().meta({ description: 'Who approved it; absent if not named.' }),
        at: timestampSchema.meta({ description: 'When the approval was recorded.' }),
      }),
    )
    .max(MAX_APPROVALS)
    .optional()
    .meta({ description: 'The approved commits, newest approval first.', 'x-kubernetes-list-type': 'atomic' }),
});
export type ApprovalStatus = z.infer<typeof approvalSchema>;

const seedSchema = z.object({
  label: z.string().meta({ description: 'Label of the reusable environment.' }),
  result: z.enum(['running', 'copied']).meta({ description: 'Progress of the copy.' }),
  reusableUID: z.string().meta({ description: 'UID of the ReusableEnvironment.' }),
  publication: z.string().meta({ description: 'ID of the publication being copied.' }),
  volumes: z
    .array(
      z.object({
        name: z.string().meta({ description: 'Name of the volume in the service file.' }),
        claim: z.string().meta({ description: "PersistentVolumeClaim of the publication's copy." }),
        size: z.string().meta({ description: 'Size that the copy requests.' }),
      }),
    )
    .meta({ description: 'The volumes to copy.' }),
});
export type SeedStatus = z.infer<typeof seedSchema>;

const publicationSchema = z.object({
  label: z.string().meta({ description: 'Label of the publication.' }),
  build: z.int().min(1).meta({ description: 'Number of the build that is published.' }),
  result: z.enum(['running', 'succeeded', 'failed']).meta({ description: 'State or result of the publication.' }),
  stoppingSince: timestampSchema
    .optional()
    .meta({ description: 'When services were stopped for it, if pods still use its volumes since.' }),
});

const feedbackSchema = z.object({
  commit: z.string().optional().meta({ description: 'Commit whose status was last written.' }),
  state: z
    .enum(['pending', 'success', 'failure', 'error'])
    .optional()
    .meta({ description: 'State of that commit status.' }),
  status: z.string().optional().meta({ description: 'Hash of the last written commit status.' }),
  commentId: z.string().optional().meta({ description: 'ID of the pull request comment at the Git host.' }),
  comment: z.string().optional().meta({ description: 'Hash of the last written comment.' }),
  tests: z
    .object({
      commit: z.string().meta({ description: 'Commit of the status.' }),
      state: z.enum(['pending', 'success', 'failure', 'error']).meta({ description: 'State of the commit status.' }),
      hash: z.string().meta({ description: 'Hash of the last written commit status.' }),
    })
    .optional()
    .meta({ description: 'The last written commit status of the tests.' }),
  refused: z
    .string()
    .optional()
    .meta({ description: 'Hash of the report that the Git host refused; it is not retried unchanged.' }),
});
export type FeedbackStatus = z.infer<typeof feedbackSchema>;

export const environmentStatusSchema = z.object({
  observedGeneration: z
    .int()
    .optional()
    .meta({ description: 'The last `metadata.generation` that the operator reconciled.' }),
  state: z.enum(ENVIRONMENT_STATES).optional().meta({ description: 'State of the environment.' }),
  activation: activationSchema
    .optional()
    .meta({ description: 'Whether the environment is to have contents, and since when.' }),
  ttl: ttlSchema.optional().meta({ description: 'The time to live of the contents.' }),
  schedule: z
    .object({
      setting: z.string().meta({ description: 'Mode, hour and time zone of the schedule.' }),
      since: timestampSchema.meta({ description: 'When it was first observed; the schedule counts from then.' }),
      next: timestampSchema.optional().meta({ description: 'When this environment is rebuilt next.' }),
    })
    .optional()
    .meta({ description: "The repository's scheduled rebuild, if it includes this environment." }),
  expiresAt: timestampSchema.optional().meta({ description: 'When the time to live of the contents ends.' }),
  sleep: sleepStatusSchema.optional().meta({ description: 'Whether it sleeps; absent until it first does.' }),
  handledRequests: handledRequestsSchema
    .optional()
    .meta({ description: 'Values of the last handled one-off requests, by name.' }),
  namespaceUID: z.string().optional().meta({ description: 'UID of the namespace that holds the contents.' }),
  commit: z.string().optional().meta({ description: 'Commit of the deployed revision.' }),
  repositories: z
    .array(includedRepositorySchema)
    .optional()
    .meta({
      description: 'Other repositories whose services the service file includes; absent if there are none.',
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['name'],
    }),
  revision: z.string().optional().meta({ description: 'ID of the revision that the contents were planned as.' }),
  storedBytes: z.int().min(0).optional().meta({
    description:
      'What the revisions in use store in the cluster: service file, mounted files, and the objects of the services.',
  }),
  fromFork: z
    .boolean()
    .optional()
    .meta({ description: 'Whether the commits of the pull request come from another repository; absent if unknown.' }),
  approval: approvalSchema
    .optional()
    .meta({ description: 'Approvals of commits of a fork, if the Repository requires them.' }),
  seed: seedSchema.optional().meta({ description: 'The reusable environment that the volumes were seeded from.' }),
  publication: publicationSchema.optional().meta({ description: 'The last publication as a reusable environment.' }),
  feedback: feedbackSchema.optional().meta({ description: 'What was reported to the Git host.' }),
  webURL: z.string().optional().meta({
    description: 'Web address of the environment; absent if no service is public.',
  }),
  aliases: z
    .record(z.string(), z.string())
    .optional()
    .meta({ description: "The web addresses of the service file's aliases." }),
  access: z
    .enum(ACCESS_MODES)
    .optional()
    .meta({ description: 'Who can open the web addresses, as the Ingress controller enforces it.' }),
  services: z
    .array(
      z.object({
        name: z.string().meta({ description: 'Name of the service.' }),
        image: z.string().optional().meta({ description: 'Image that the service runs.' }),
        ready: z
          .boolean()
          .meta({ description: 'Whether the service runs its current revision; for a job, whether it has completed.' }),
        restarts: z.int().optional().meta({ description: 'How often its containers were restarted.' }),
        lastTermination: z
          .object({
            reason: z
              .string()
              .meta({ description: 'Reason reported by the kubelet: `Completed`, `Error`, `OOMKilled`.' }),
            exitCode: z.int().meta({ description: 'Exit code of the container.' }),
            finishedAt: timestampSchema.meta({ description: 'When it ended.' }),
          })
          .optional()
          .meta({
            description: 'How one of its containers last terminated; absent if none has.',
          }),
        message: z.string().optional().meta({ description: 'Why the service is not ready.' }),
        job: z.literal(true).optional().meta({ description: 'Whether it is a job.' }),
        built: z.literal(true).optional().meta({ description: 'Whether its image is built.' }),
        ports: z.array(z.int()).optional().meta({ description: 'TCP ports.' }),
        dependsOn: z.array(z.string()).optional().meta({ description: 'Services started before it.' }),
        addresses: z.array(z.string()).optional().meta({ description: 'Public web addresses.' }),
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
    .meta({ description: 'The last finished builds, newest first.' }),
  deployed: buildStatusSchema
    .optional()
    .meta({ description: 'The last build that was deployed successfully; a failed build falls back to it.' }),
  volumes: z
    .object({
      build: z.int().meta({ description: 'Number of the build after which the volumes were measured.' }),
      usedBytes: z.int().meta({ description: 'Disk blocks used by the files of all volumes, in bytes.' }),
    })
    .optional()
    .meta({ description: 'Size of the volumes.' }),
  tests: testsStatusSchema.optional().meta({ description: 'Tests of the deployed build.' }),
  conditions: conditionsSchema.optional(),
});

export const environmentSchema = objectSchema(environmentSpecSchema, environmentStatusSchema);
export type Environment = z.infer<typeof environmentSchema> & { apiVersion: string; kind: string };
export type EnvironmentSpec = z.infer<typeof environmentSpecSchema>;
export type EnvironmentStatus = z.infer<typeof environmentStatusSchema>;

export const ENVIRONMENT = kindAddress('Environment', 'environments', true);
