import { z } from 'zod';
import { gitRefSchema } from '../../crds/git-ref.ts';
import { COMMIT_PATTERN } from '../../crds/requests.ts';
import { MAX_IDLE_SECONDS, WAKE_ON, workingHoursSchema } from '../../crds/sleep.ts';
import { booleanField, integerField, nameField } from '../http/parse.ts';

/** Changes when environments sleep; null removes a setting. */
export const changeSleepSchema = z.object({
  afterSeconds: integerField(0, MAX_IDLE_SECONDS).nullable().optional(),
  workingHours: workingHoursSchema.nullable().optional().meta({ description: 'null: none.' }),
  wakeOn: z
    .enum(WAKE_ON, { error: `must be one of ${WAKE_ON.join(', ')}` })
    .nullable()
    .optional(),
  wakeOnCommit: booleanField.nullable().optional(),
});

/** Ten years, also the limit in the CRD. */
export const MAX_TTL_SECONDS = 10 * 365 * 24 * 3600;
const ttlField = integerField(0, MAX_TTL_SECONDS);

/** Body of POST /api/repository/{id}/spawn. */
export const spawnSchema = z.object({
  name: nameField.optional(),
  build: booleanField.default(true),
  ttl: ttlField.optional(),
  gitRef: gitRefSchema,
  ifExists: z.enum(['create', 'reuse']).default('create').meta({
    description:
      'Extension: what to do if the ref has an environment already. `create` creates another one; `reuse` returns the oldest one, creates its contents if it has none, and builds it if `build` is true.',
  }),
});
export type Spawn = z.infer<typeof spawnSchema>;

/** Query of GET /api/environment/{id}. */
export const readSchema = z.object({ build: booleanField.default(true) });

/** Parameters of PUT /api/environment/{id}; the body takes precedence over the query. */
export const createContentsSchema = z.object({ build: booleanField.optional(), ttl: ttlField.optional() });

/** Body of POST /api/environment/{id}/ttl. */
export const ttlSchema = z.object({ ttl: ttlField });

/** Body of POST /api/environment/{id}/approve (extension). */
export const approveSchema = z.object({
  commit: z
    .string()
    .regex(COMMIT_PATTERN, { error: 'must be the whole commit ID, in lower case: several commits can have one prefix' })
    .meta({ description: 'The commit that waits: `approval.waitingCommit` of the environment.' }),
});

/** Body of POST /api/environment/{id}/settings, a partial merge; null removes a setting. */
export const changeEnvironmentSettingsSchema = z
  .object({ sleep: changeSleepSchema.optional() })
  .refine(({ sleep }) => sleep !== undefined, { error: 'needs sleep' })
  // For the OpenAPI document, which cannot express the refinement.
  .meta({ minProperties: 1 });
export type ChangeEnvironmentSettings = z.infer<typeof changeEnvironmentSettingsSchema>;

/** Query of the log stream (extension), to resume after a broken connection. */
export const logQuerySchema = z.object({
  from: integerField(0, Number.MAX_SAFE_INTEGER).optional(),
  build: integerField(1, Number.MAX_SAFE_INTEGER).optional(),
});

/** Query of a build's log stream (extension). */
export const logStreamQuerySchema = logQuerySchema.extend({
  header: booleanField.default(false).meta({
    description:
      'For a WebSocket: the first frame is `{"header": …}` with the known fields of the build, including its commit.',
  }),
});

/** Query of a service's log (extension). */
export const runtimeLogQuerySchema = z.object({
  follow: booleanField.optional(),
  tail: integerField(0, 1000).default(100),
  from: integerField(0, Number.MAX_SAFE_INTEGER).optional(),
});
