import { z } from 'zod';
import { accessFields } from './access.ts';
import { kindAddress } from './api-group.ts';
import { conditionsSchema } from './conditions.ts';
import { displayNameSchema } from './display-name.ts';
import { gitRefSchema } from './git-ref.ts';
import { objectSchema } from './metadata.ts';
import {
  cloudorgSourceSchema,
  genericSourceSchema,
  groupedhostSourceSchema,
  ownerhostSourceSchema,
  REPOSITORY_TYPES,
  workspacehostSourceSchema,
} from './repository-source.ts';
import { reusableLabelSchema } from './reusable-environment.ts';
import { sleepSettingsSchema } from './sleep.ts';
import { syncRulesSchema } from './sync-rules.ts';
import { timeOfDaySchema } from './time-of-day.ts';
import { timeZoneSchema } from './time-zone.ts';
import { registrySecretsSchema, secretKeyRefSchema, variablesSchema } from './variable.ts';
import { timestampSchema } from './timestamp.ts';

/** Where the service file comes from: the repository, the settings, or both merged. */
export const SERVICE_FILE_MODES = ['repo', 'panel', 'both'] as const;

const serviceFileSettingsSchema = z
  .object({
    mode: z.enum(SERVICE_FILE_MODES).default('repo').meta({
      description:
        "`repo`: the repository's file; `panel`: only the content here; `both`: the content here merged over the repository's file.",
    }),
    content: z.string().max(131_072).optional().meta({ description: 'A service file in YAML.' }),
    contentFrom: z.object({ secretKeyRef: secretKeyRefSchema }).optional().meta({
      description: 'A key of a Secret in the namespace of the group that holds the content, in place of `content`.',
    }),
  })
  .meta({
    description: 'Where the service file comes from.',
    'x-kubernetes-validations': [
      {
        rule: '!(has(self.content) && has(self.contentFrom))',
        message: 'content and contentFrom exclude each other: remove one',
      },
    ],
  });

/** A schedule requires a time. Objects from before this rule are still read, so only the CRD enforces it. */
export const SCHEDULE_WITHOUT_HOUR = 'hour is required unless mode is disabled';

export const REBUILD_MODES = ['all', 'notclones', 'reusables', 'disabled'] as const;

const scheduledRebuildSchema = z
  .object({
    mode: z.enum(REBUILD_MODES).default('disabled').meta({
      description:
        'Which environments with contents are rebuilt: `all`; with `notclones` only the oldest of each ref; with `reusables` those that publish a reusable environment.',
    }),
    hour: timeOfDaySchema.optional().meta({ description: 'Time of day, hh:mm; required unless `mode` is disabled.' }),
    timeZone: timeZoneSchema,
  })
  .meta({
    description: 'Rebuild of environments once a day.',
    'x-kubernetes-validations': [{ rule: "self.mode == 'disabled' || has(self.hour)", message: SCHEDULE_WITHOUT_HOUR }],
  });

const publisherSchema = z.object({
  name: gitRefSchema.shape.name,
  type: z.enum(['branch', 'tag']).default('branch').meta({ description: 'Whether it is a branch or a tag.' }),
});

const reusableSettingsSchema = z
  .array(
    z.object({
      label: reusableLabelSchema.meta({ description: 'Label of the reusable environment in service files.' }),
      refs: z
        .array(publisherSchema)
        .min(1)
        .max(20)
        .meta({ description: 'Refs whose environments can publish it.', 'x-kubernetes-list-type': 'atomic' }),
    }),
  )
  .max(20)
  .refine((all) => new Set(all.map(({ label }) => label)).size === all.length, {
    error: 'names a label twice: remove one',
  })
  .meta({
    description: 'Which refs can publish which reusable environments; none if absent.',
    'x-kubernetes-list-type': 'map',
    'x-kubernetes-list-map-keys': ['label'],
  });

/** Number of tags that get an environment, unless the Repository sets its own. */
export const DEFAULT_NEWEST_TAGS = 10;

const syncSettingsSchema = z
  .object({
    intervalSeconds: z
      .int()
      .min(10)
      .max(7 * 24 * 3600)
      .optional()
      .meta({
        description: "Interval between listings of the Git host's refs; defaults to the chart's `sources.pollSeconds`.",
      }),
    newestTags: z
      .int()
      .min(0)
      .max(100)
      .default(DEFAULT_NEWEST_TAGS)
      .meta({ description: 'Number of tags, newest first by version order, that get an environment.' }),
    rules: syncRulesSchema.optional().meta({
      ...syncRulesSchema.meta(),
      description:
        'Which refs get an environment: the first rule that matches a ref decides. If absent, each gets an empty one.',
    }),
    dryRun: z.boolean().optional().meta({
      description: 'Whether syncs create no environment, and only report what the rules match.',
    }),
    confirmClosed: z.boolean().optional().meta({
      description:
        'For `generic`: whether a pull request that a webhook reports as closed keeps its environment until Git no longer has its ref; defaults to true. Set `false` for hosts that keep the ref, such as Gitea; whoever knows the secret of the webhook can then delete environments of pull requests.',
    }),
  })
  .meta({ description: "How environments are synchronized with the repository's refs." });

export const FORK_APPROVALS = ['required', 'notRequired'] as const;
export type ForkApproval = (typeof FORK_APPROVALS)[number];

export const ON_REF_GONE = ['delete', 'keep'] as const;

export const repositorySpecSchema = z
  .object({
    displayName: displayNameSchema,
    type: z.enum(REPOSITORY_TYPES).meta({
      description: 'Type of Git host; the object of the same name configures it.',
    }),
    generic: genericSourceSchema
      .optional()
      .meta({ description: 'A repository on any Git server. Required when `type` is generic.' }),
    ownerhost: ownerhostSourceSchema.optional().meta({
      description: 'A repository on an ownerhost: GitHub, or a server with its API. Required when `type` is ownerhost.',
    }),
    groupedhost: groupedhostSourceSchema.optional().meta({
      description:
        'A repository on a groupedhost: GitLab, or a server with its API. Required when `type` is groupedhost.',
    }),
    cloudorg: cloudorgSourceSchema.optional().meta({
      description:
        'A repository on a cloudorg: Azure DevOps, or a server with its API. Required when `type` is cloudorg.',
    }),
    workspacehost: workspacehostSourceSchema
      .optional()
      .meta({ description: 'A repository on a workspacehost: Bitbucket. Required when `type` is workspacehost.' }),
    sync: syncSettingsSchema.optional(),
    autoBuild: z.boolean().optional().meta({
      description: 'Whether new commits are built in environments with contents; defaults to true.',
    }),
    onRefGone: z.enum(ON_REF_GONE).optional().meta({
      description:
        'Whether environments of deleted branches and tags and of closed pull requests are deleted; defaults to `delete`.',
    }),
    suspend: z.boolean().optional().meta({ description: "Suspends the synchronization with the Git host's refs." }),
    variables: variablesSchema,
    registrySecrets: registrySecretsSchema,
    serviceFile: serviceFileSettingsSchema.optional(),
    trustForks: z
      .boolean()
      .optional()
      .meta({ description: 'Whether pull requests from forks see variables and share the build cache.' }),
    forks: z
      .object({
        approval: z.enum(FORK_APPROVALS).optional().meta({
          description:
            "Whether each commit of a pull request from a fork waits for a member's approval before it is read and built; defaults to the chart's `sources.forkApproval`. Also applies with `trustForks`.",
        }),
        canInclude: z.boolean().optional().meta({
          description:
            'Whether environments of pull requests from forks of other repositories of the group can include this one, without its variables; defaults to false. They run its code, private or not.',
        }),
      })
      .optional()
      .meta({ description: 'How pull requests from forks are handled.' }),
    environmentTTLSeconds: z
      .int()
      .min(0)
      .max(10 * 365 * 24 * 3600)
      .optional()
      .meta({
        description: 'Default time to live of new environments in seconds; 0 means unlimited.',
      }),
    scheduledRebuild: scheduledRebuildSchema.optional(),
    ...accessFields("the chart's `environments.access.default`"),
    reusable: reusableSettingsSchema.optional(),
    sleep: sleepSettingsSchema.optional(),
  })
  .meta({
    'x-kubernetes-validations': [
      ...REPOSITORY_TYPES.map((type) => ({
        rule: `has(self.${type}) == (self.type == '${type}')`,
        message: `the object ${type} is required when the type is ${type}, and forbidden otherwise`,
      })),
    ],
  });

export const repositoryStatusSchema = z.object({
  observedGeneration: z
    .int()
    .optional()
    .meta({ description: 'The last `metadata.generation` that the operator reconciled.' }),
  url: z.string().optional().meta({ description: 'Web address of the repository at its host.' }),
  hostRepository: z
    .object({
      origin: z.string().meta({ description: 'URL that git reads.' }),
      id: z
        .string()
        .meta({ description: 'ID at the host, which distinguishes it from another repository of the same name.' }),
    })
    .optional()
    .meta({ description: 'The repository that was first found at this location; absent if the host has no IDs.' }),
  sshPublicKey: z.string().optional().meta({
    description: 'Public key to register at the Git server; git over SSH uses its private key.',
  }),
  handledRequests: z
    .object({
      sync: z.string().optional().meta({ description: 'Value of the last handled request to synchronize.' }),
    })
    .optional()
    .meta({ description: 'Values of the last handled one-off requests.' }),
  sync: z
    .object({
      branches: z.int().meta({ description: 'Number of branches.' }),
      tags: z.int().meta({ description: 'Number of tags.' }),
      pullRequests: z
        .int()
        .optional()
        .meta({ description: 'Number of open pull requests; absent if the host does not list them.' }),
      at: timestampSchema.meta({ description: 'When the refs last changed, or were last listed on request.' }),
      rules: z
        .array(
          z.object({
            matched: z.int().meta({ description: 'Number of refs.' }),
            examples: z.array(z.string()).meta({ description: 'Some of them.', 'x-kubernetes-list-type': 'atomic' }),
          }),
        )
        .optional()
        .meta({
          description: 'What each rule matches, in their order.',
          'x-kubernetes-list-type': 'atomic',
        }),
      unmatched: z
        .object({
          count: z.int().meta({ description: 'Number of refs.' }),
          examples: z
            .array(
              z.object({
                ref: z.string().meta({ description: 'Its type and name.' }),
                why: z.string().meta({ description: 'Why no rule matches it.' }),
              }),
            )
            .meta({ description: 'Some of them.', 'x-kubernetes-list-type': 'atomic' }),
        })
        .optional()
        .meta({ description: 'Refs that no rule matches.' }),
    })
    .optional()
    .meta({ description: 'Result of the last listing of refs.' }),
  webhook: z
    .object({
      url: z.string().meta({ description: 'URL that the Git host delivers to.' }),
      secretName: z.string().meta({ description: 'Secret in this namespace whose key `secret` signs deliveries.' }),
      id: z.string().optional().meta({ description: 'ID of the hook that Coppice created at the host.' }),
      comments: z.literal(true).optional().meta({
        description: 'Whether that hook reports comments too, which can approve commits of forks.',
      }),
      location: z.record(z.string(), z.string()).optional().meta({
        description: 'Location of that hook: the type, and the fields of the source that identify the repository.',
      }),
    })
    .optional()
    .meta({ description: 'The webhook by which the Git host reports pushes and pull requests.' }),
  conditions: conditionsSchema.optional(),
});

export const repositorySchema = objectSchema(repositorySpecSchema, repositoryStatusSchema);
export type Repository = z.infer<typeof repositorySchema> & { apiVersion: string; kind: string };

export const REPOSITORY = kindAddress('Repository', 'repositories', true);
