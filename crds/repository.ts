import { z } from 'zod';
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
import { isTimeZone } from './time-zone.ts';
import { registrySecretsSchema, variablesSchema } from './variable.ts';

/** Contract section 2, repository settings: where the service file comes from. */
export const SERVICE_FILE_MODES = ['repo', 'panel', 'both'] as const;

const time = z.iso.datetime({ offset: true }).meta({ format: 'date-time' });

const serviceFileSettingsSchema = z
  .object({
    mode: z.enum(SERVICE_FILE_MODES).default('repo').meta({
      description:
        "The repository's own file, the content here alone, or the content here merged over the repository's.",
    }),
    content: z.string().max(131_072).optional().meta({ description: 'A service file in YAML.' }),
  })
  .meta({ description: 'Where the service file comes from.' });

/** A schedule without a time would never come. Objects of before that rule are still read: it is the CRD's, not the reader's. */
export const SCHEDULE_WITHOUT_HOUR = 'hour is required unless mode is disabled';

export const REBUILD_MODES = ['all', 'notclones', 'reusables', 'disabled'] as const;

const scheduledRebuildSchema = z
  .object({
    mode: z.enum(REBUILD_MODES).default('disabled').meta({
      description:
        'Which environments are rebuilt: all, all but clones of reusable environments, those that publish one, or none.',
    }),
    hour: z
      .string()
      .regex(/^([01]\d|2[0-3]):[0-5]\d$/)
      .optional()
      .meta({ description: 'Time of day, hh:mm; required unless `mode` is disabled.' }),
    timeZone: z
      .string()
      .max(64)
      .refine(isTimeZone, { error: 'is no name of the IANA time zone database, such as Europe/Berlin' })
      .default('UTC')
      .meta({ description: 'Name from the IANA time zone database.' }),
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
      label: reusableLabelSchema.meta({ description: 'Label of the reusable environment, as service files name it.' }),
      refs: z
        .array(publisherSchema)
        .min(1)
        .max(20)
        .meta({ description: 'Refs whose environments may publish it.', 'x-kubernetes-list-type': 'atomic' }),
    }),
  )
  .max(20)
  .refine((all) => new Set(all.map(({ label }) => label)).size === all.length, { error: 'names a label twice' })
  .meta({
    description: 'Which refs may publish which reusable environments; without it none may.',
    'x-kubernetes-list-type': 'map',
    'x-kubernetes-list-map-keys': ['label'],
  });

const syncSettingsSchema = z
  .object({
    intervalSeconds: z
      .int()
      .min(10)
      .max(7 * 24 * 3600)
      .optional()
      .meta({ description: 'How often the Git host is asked for its refs; what the operator is set to by default.' }),
    newestTags: z
      .int()
      .min(0)
      .max(100)
      .default(10)
      .meta({ description: 'So many tags, the newest by version order, get an environment each.' }),
    confirmClosed: z.boolean().optional().meta({
      description:
        'Where the host has no list of pull requests (`generic`): whether the environment of one that a webhook reports as closed stays until Git has its ref no more; true by default. `false` where the host keeps the ref, such as Gitea: then whoever knows the secret of the webhook can have environments of pull requests deleted.',
    }),
  })
  .meta({ description: "How the environments are kept in step with the repository's refs." });

const onRefGone = ['delete', 'keep'] as const;

export const repositorySpecSchema = z
  .object({
    displayName: displayNameSchema,
    type: z.enum(REPOSITORY_TYPES).meta({
      description: 'What kind of Git host the repository is on; the object of the same name says where.',
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
      description: 'Whether a new commit of a ref is built where its environment has contents; true by default.',
    }),
    onRefGone: z.enum(onRefGone).optional().meta({
      description:
        'What becomes of the environments of a deleted branch or tag, or a closed pull request; `delete` by default.',
    }),
    suspend: z.boolean().optional().meta({ description: 'Whether the refs are no longer kept in step.' }),
    variables: variablesSchema,
    registrySecrets: registrySecretsSchema,
    serviceFile: serviceFileSettingsSchema.optional(),
    trustForks: z
      .boolean()
      .optional()
      .meta({ description: 'Whether pull requests, which forks may bring, see variables and share the build cache.' }),
    environmentTTLSeconds: z
      .int()
      .min(0)
      .max(10 * 365 * 24 * 3600)
      .optional()
      .meta({
        description: 'How long the contents of new environments live unless they say so themselves; 0 means no end.',
      }),
    scheduledRebuild: scheduledRebuildSchema.optional(),
    reusable: reusableSettingsSchema.optional(),
  })
  .meta({
    'x-kubernetes-validations': [
      ...REPOSITORY_TYPES.map((type) => ({
        rule: `has(self.${type}) == (self.type == '${type}')`,
        message: `the object ${type} is there when the type is ${type}, and only then`,
      })),
    ],
  });

export const repositoryStatusSchema = z.object({
  observedGeneration: z.int().optional().meta({ description: 'The `metadata.generation` that the operator has seen.' }),
  url: z.string().optional().meta({ description: 'Web address of the repository at its host.' }),
  hostRepository: z
    .object({
      origin: z.string().meta({ description: 'Where git reads it.' }),
      id: z.string().meta({ description: 'Another repository that takes its name has another one.' }),
    })
    .optional()
    .meta({ description: 'Which repository was found there first; absent where the host has no ids.' }),
  sshPublicKey: z.string().optional().meta({
    description: 'To be let in at the Git server, which is reached with the private half where the origin is of SSH.',
  }),
  handledRequests: z
    .object({
      sync: z
        .string()
        .optional()
        .meta({ description: 'Value of the last request to look at the refs that was handled.' }),
    })
    .optional()
    .meta({ description: 'The one-off requests that were handled.' }),
  sync: z
    .object({
      branches: z.int().meta({ description: 'How many branches there are.' }),
      tags: z.int().meta({ description: 'How many tags there are.' }),
      pullRequests: z.int().optional().meta({ description: 'Open ones; absent where the host does not say.' }),
      at: time.meta({ description: 'When the refs were last seen to have changed, or were asked for.' }),
    })
    .optional()
    .meta({ description: 'The refs as they were last listed.' }),
  webhook: z
    .object({
      url: z.string().meta({ description: 'Where the Git host sends deliveries to.' }),
      secretName: z.string().meta({ description: 'Secret in this namespace whose key `secret` signs deliveries.' }),
      id: z.string().optional().meta({ description: 'Of the hook that Coppice itself made at the host.' }),
      place: z.record(z.string(), z.string()).optional().meta({
        description: 'Where that hook is: the type, and the fields of the source that say which repository.',
      }),
    })
    .optional()
    .meta({ description: 'The webhook by which the Git host reports pushes and pull requests.' }),
  conditions: conditionsSchema.optional(),
});

export const repositorySchema = objectSchema(repositorySpecSchema, repositoryStatusSchema);
export type Repository = z.infer<typeof repositorySchema> & { apiVersion: string; kind: string };

export const REPOSITORY = kindAddress('Repository', 'repositories', true);
