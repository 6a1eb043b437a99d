import { z } from 'zod';
import { ACCESS_MODES } from '../../crds/access.ts';
import { ENVIRONMENT_STATES } from '../../crds/environment.ts';
import { GIT_REF_TYPES } from '../../crds/git-ref.ts';
import { REQUESTS } from '../../crds/requests.ts';
import { SLEEP_REASONS, sleepSettingsSchema } from '../../crds/sleep.ts';
import { conditionViewSchema } from '../http/condition-view.ts';
import { healthSchema, problemSchema } from '../http/health-view.ts';
import { acceptedRequestSchema, buildViewSchema } from './build-view.ts';
import { includedViewSchema } from './included-view.ts';

export const gitRefViewSchema = z
  .object({
    name: z.string().meta({ description: 'Short, without refs/heads/ or refs/tags/; the number of a pull request.' }),
    type: z.enum(GIT_REF_TYPES),
  })
  .meta({ id: 'GitRef' });

const unixSeconds = (what: string) => z.int().meta({ description: `${what}, in Unix seconds; 0 when there is none.` });
const id = z.string().meta({ description: 'The id of the environment: `acme.shop-main`.' });
const status = z.enum(ENVIRONMENT_STATES).meta({
  description:
    '`building` while an accepted request is carried out and while contents are removed, never the previous state.',
});
const weburl = z.string().meta({ description: 'Where the environment is reachable.' });
const commit = z.string().optional().meta({
  description:
    'Extension: the deployed commit or, before the first build, the commit that the services are set up from.',
});
const builtAt = unixSeconds('When the last build finished');

export const asleepField = z.literal(true).optional().meta({
  description: 'Extension: its services are stopped until it wakes; its contents stay. Otherwise omitted.',
});

export const removingField = z.literal(true).optional().meta({
  description: 'Extension: its contents are being deleted, while `status` is `building`. Otherwise omitted.',
});

export const deployedBuildField = z.int().optional().meta({
  description: 'Extension: the number of the build that runs, of `commit`; omitted if none does.',
});

/** An environment, as GET /api/environment/{id} returns it. */
export const environmentViewSchema = z
  .object({
    id,
    rid: z.string().meta({ description: 'The id of its repository.' }),
    gid: z.string().meta({ description: 'Extension: the id of its group.' }),
    version: z.int().meta({ description: 'Extension: grows with each change of the object.' }),
    name: z.string().meta({ description: 'Extension: for people.' }),
    gitRef: gitRefViewSchema,
    status,
    health: healthSchema,
    problem: problemSchema.optional(),
    asleep: asleepField,
    removing: removingField,
    deployedBuild: deployedBuildField,
    sleep: z
      .object({
        since: z.int().meta({ description: 'When it fell asleep, or was last kept awake, in Unix seconds.' }),
        reason: z.enum(SLEEP_REASONS).meta({ description: 'What put it to sleep, or woke it.' }),
      })
      .optional()
      .meta({ description: 'Extension: why it sleeps or was woken; absent until it first sleeps.' }),
    settings: z
      .object({ sleep: sleepSettingsSchema })
      .meta({ description: 'Extension: settings of the environment that replace those of its repository.' }),
    fromFork: z.boolean().optional().meta({
      description: 'Extension: whether the commits of the pull request come from another repository.',
    }),
    approval: z
      .object({
        waitingCommit: z.string().optional().meta({
          description: 'The newest commit of a fork, which POST …/approve has read and built; omitted if none waits.',
        }),
        commits: z.array(
          z.object({
            commit: z.string(),
            by: z.string().optional().meta({ description: 'Who approved it; omitted if not named.' }),
            at: z.int().meta({ description: 'In Unix seconds.' }),
          }),
        ),
      })
      .optional()
      .meta({ description: 'Extension: approvals of commits of a fork; omitted if none waits and there are none.' }),
    nextRebuildAt: z.int().optional().meta({
      description: 'Extension: when the schedule of the repository rebuilds it next, in Unix seconds.',
    }),
    weburl: weburl
      .optional()
      .meta({ description: 'Where the environment is reachable; omitted if none of its services is public.' }),
    commit,
    repositories: z.array(includedViewSchema).optional().meta({
      description: 'Extension: other repositories whose services it includes; omitted if there are none.',
    }),
    aliases: z.record(z.string(), z.string()).meta({ description: 'From alias to address.' }),
    access: z.enum(ACCESS_MODES).meta({ description: 'Extension: who can open the addresses, as it is enforced.' }),
    ownAccess: z
      .enum(ACCESS_MODES)
      .optional()
      .meta({ description: "Extension: the environment's own setting; omitted if it has none." }),
    hasAccessPassword: z
      .literal(true)
      .optional()
      .meta({ description: 'Extension: the environment has a password of its own; otherwise omitted.' }),
    buildTime: z
      .int()
      .meta({ description: 'Duration of the last finished build in seconds, at least 1; 0 if no build has finished.' }),
    createdAt: unixSeconds('When the environment was created'),
    builtAt,
    buildAt: builtAt,
    ttl: z
      .int()
      .positive()
      .optional()
      .meta({ description: 'Time to live in seconds, counted from when it was set; omitted when zero.' }),
    expiresAt: z.int().optional().meta({
      description: 'Extension: when the contents are removed, in Unix seconds; omitted if they have no time to live.',
    }),
    expired: z
      .object({
        at: z.int().meta({ description: 'In Unix seconds.' }),
        ttl: z.int().meta({ description: 'The time to live that ended, in seconds.' }),
      })
      .optional()
      .meta({ description: 'Extension: the end of a time to live deleted the contents; otherwise omitted.' }),
    size: z.int().meta({ description: 'In bytes.' }),
    services: z.array(
      z.object({
        id: z.string(),
        name: z.string(),
        ready: z.boolean().meta({
          description: 'Extension: whether it runs its current revision; for a job, whether it has completed.',
        }),
        restarts: z.int().meta({ description: 'Extension: how often its containers were restarted.' }),
        lastTermination: z
          .object({
            reason: z
              .string()
              .meta({ description: '`Completed`, `Error`, `OOMKilled` or another reason that the node reports.' }),
            exitCode: z.int(),
            finishedAt: z.int().meta({ description: 'In Unix seconds.' }),
          })
          .optional()
          .meta({ description: 'Extension: how one of its containers last terminated; absent if none has.' }),
        message: z.string().optional().meta({ description: 'Extension: why it is not ready.' }),
        image: z.string().optional().meta({ description: 'Extension: the image that it runs.' }),
        built: z.literal(true).optional().meta({ description: 'Extension: the image is built from the repository.' }),
        job: z.literal(true).optional().meta({ description: 'Extension: it is a job, which ends.' }),
        ports: z.array(z.int()).optional().meta({ description: 'Extension: TCP ports.' }),
        dependsOn: z.array(z.string()).optional().meta({ description: 'Extension: services started before it.' }),
        addresses: z.array(z.string()).optional().meta({ description: 'Extension: its public web addresses.' }),
      }),
    ),
    conditions: z.array(conditionViewSchema).meta({ description: 'Extension: what failed, and why.' }),
    build: buildViewSchema
      .optional()
      .meta({ description: 'Extension: the running or pending build, or else the last one.' }),
    request: acceptedRequestSchema
      .optional()
      .meta({ description: 'Extension: the request that this response accepts.' }),
    pendingRequests: z
      .array(z.object({ name: z.enum(REQUESTS), id: z.string() }))
      .optional()
      .meta({
        description: 'Extension: accepted requests that the operator has not handled yet; omitted if there are none.',
      }),
  })
  .meta({ id: 'Environment' });
export type EnvironmentView = z.infer<typeof environmentViewSchema>;

/** The response to spawn. */
export const spawnedViewSchema = z
  .object({
    id,
    name: z.string(),
    status,
    weburl: weburl.optional().meta({
      description: 'Where the environment is reachable; omitted if a reused environment has no public service.',
    }),
    request: acceptedRequestSchema.optional().meta({ description: 'Extension: the request for its build.' }),
    reused: z
      .literal(true)
      .optional()
      .meta({ description: 'Extension: `ifExists` found an environment; nothing was created.' }),
  })
  .meta({ id: 'SpawnedEnvironment' });
export type SpawnedView = z.infer<typeof spawnedViewSchema>;
