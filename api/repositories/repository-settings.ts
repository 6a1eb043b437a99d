import { z } from 'zod';
import {
  DEFAULT_NEWEST_TAGS,
  FORK_APPROVALS,
  ON_REF_GONE,
  REBUILD_MODES,
  repositorySpecSchema,
  SERVICE_FILE_MODES,
  type Repository,
} from '../../crds/repository.ts';
import { ACCESS_MODES } from '../../crds/access.ts';
import { syncRulesSchema } from '../../crds/sync-rules.ts';
import { sleepSettingsSchema } from '../../crds/sleep.ts';
import { isTimeZone } from '../../crds/time-zone.ts';
import { changeSleepSchema, MAX_TTL_SECONDS } from '../environments/environment-parameters.ts';
import { accessChange } from '../environment-access/access-settings.ts';
import { booleanField, encodedTextField, integerField } from '../http/parse.ts';
import type { ServiceFileTexts } from './service-file-texts.ts';
import { variableViewSchema, type VariableView } from '../variables/variable-view.ts';

const maxSyncIntervalSeconds = 7 * 24 * 3600;

const reusableSettingsSchema = repositorySpecSchema.shape.reusable.unwrap();

const webhookViewSchema = z.object({
  url: z.string(),
  secret: z.string(),
  withheld: z
    .literal(true)
    .optional()
    .meta({ description: 'The token does not permit reading the secret; `secret` is empty.' }),
  created: z
    .boolean()
    .meta({ description: 'Coppice has created the webhook at the host: you need not enter it there.' }),
});
/** What users enter at the Git host to make it report pushes and pull requests. */
export type WebhookView = z.infer<typeof webhookViewSchema>;

/** A repository's settings. */
export const repositorySettingsViewSchema = z
  .object({
    variables: z.array(variableViewSchema),
    sshPublicKey: z.string().meta({
      description: 'The public key to register at the Git server for SSH; empty for types other than generic.',
    }),
    environmentTTL: z
      .int()
      .positive()
      .optional()
      .meta({ description: 'Default time to live of new environments in seconds; omitted when zero.' }),
    scheduledRebuild: z.object({
      mode: z.enum(REBUILD_MODES),
      hour: z.string().meta({ description: '`hh:mm`; empty until one is set.' }),
      timeZone: z.string().meta({ description: 'Extension: a name from the IANA time zone database.' }),
    }),
    serviceFile: z.object({
      mode: z.enum(SERVICE_FILE_MODES),
      serviceFile: z.string().meta({ description: 'YAML in base64; empty if the settings have none.' }),
    }),
    sync: z
      .object({
        intervalSeconds: z
          .int()
          .optional()
          .meta({ description: "Interval between listings of the refs; omitted if it is the installation's." }),
        newestTags: z.int().meta({ description: 'Number of tags, newest first, that get an environment.' }),
        rules: syncRulesSchema
          .optional()
          .meta({ description: 'Which refs get an environment; omitted if each gets an empty one.' }),
        dryRun: z.literal(true).optional().meta({ description: 'Syncs create no environment; otherwise omitted.' }),
      })
      .meta({ description: "Extension: how environments are synchronized with the repository's refs." }),
    autoBuild: z
      .boolean()
      .meta({ description: 'Extension: whether new commits are built in environments with contents.' }),
    onRefGone: z.enum(ON_REF_GONE).meta({
      description: 'Extension: whether environments of deleted refs and closed pull requests are deleted.',
    }),
    forks: z
      .object({
        approval: z.enum(FORK_APPROVALS).optional().meta({
          description: "Whether a fork's commits wait for a member's approval; omitted if the installation decides.",
        }),
        canInclude: z.literal(true).optional().meta({
          description:
            'Environments of forks of other repositories of the group can include this one; otherwise omitted.',
        }),
      })
      .meta({ description: 'Extension: how pull requests from forks are handled.' }),
    reusable: reusableSettingsSchema
      .optional()
      .meta({ description: 'Extension: which refs may publish which reusable environments.' }),
    access: z
      .enum(ACCESS_MODES)
      .optional()
      .meta({ description: "Extension: who can open the environments; omitted if it is the installation's default." }),
    hasAccessPassword: z
      .literal(true)
      .optional()
      .meta({ description: 'Extension: there is a password for `access: password`; otherwise omitted.' }),
    sleep: sleepSettingsSchema.meta({ description: 'Extension: when environments sleep.' }),
    webhook: webhookViewSchema
      .optional()
      .meta({ description: 'Extension; absent until the operator has created its secret.' }),
  })
  .meta({ id: 'RepositorySettings' });
export type RepositorySettingsView = z.infer<typeof repositorySettingsViewSchema>;

export function repositorySettingsView(
  { spec, status }: Repository,
  serviceFileText: string,
  variables: VariableView[],
  webhook: WebhookView | undefined,
): RepositorySettingsView {
  const { environmentTTLSeconds: ttl = 0, scheduledRebuild, serviceFile } = spec;
  return {
    variables,
    sshPublicKey: status?.sshPublicKey ?? '',
    ...(ttl > 0 && { environmentTTL: ttl }),
    scheduledRebuild: {
      mode: scheduledRebuild?.mode ?? 'disabled',
      hour: scheduledRebuild?.hour ?? '',
      timeZone: scheduledRebuild?.timeZone ?? 'UTC',
    },
    serviceFile: {
      mode: serviceFile?.mode ?? 'repo',
      serviceFile: Buffer.from(serviceFileText).toString('base64'),
    },
    sync: {
      ...(spec.sync?.intervalSeconds !== undefined && { intervalSeconds: spec.sync.intervalSeconds }),
      newestTags: spec.sync?.newestTags ?? DEFAULT_NEWEST_TAGS,
      ...(spec.sync?.rules && { rules: spec.sync.rules }),
      ...(spec.sync?.dryRun === true && { dryRun: true as const }),
    },
    autoBuild: spec.autoBuild ?? true,
    onRefGone: spec.onRefGone ?? 'delete',
    forks: {
      ...(spec.forks?.approval !== undefined && { approval: spec.forks.approval }),
      ...(spec.forks?.canInclude === true && { canInclude: true as const }),
    },
    sleep: spec.sleep ?? {},
    ...(spec.reusable !== undefined && spec.reusable.length > 0 && { reusable: spec.reusable }),
    ...(spec.access !== undefined && { access: spec.access }),
    ...(spec.accessPassword && { hasAccessPassword: true as const }),
    ...(webhook && { webhook }),
  };
}

/** Body of POST /api/repository/{id}/settings, a partial merge: absent settings do not change. */
export const changeSettingsSchema = z
  .object({
    environmentTTL: integerField(0, MAX_TTL_SECONDS).optional(),
    scheduledRebuild: z
      .object({
        mode: z.enum(REBUILD_MODES, { error: `must be one of ${REBUILD_MODES.join(', ')}` }).optional(),
        hour: z
          .string()
          .regex(/^(([01]\d|2[0-3]):[0-5]\d)?$/, { error: 'must be a time of day, hh:mm, or empty for none' })
          .optional(),
        timeZone: z
          .string()
          .refine(isTimeZone, { error: 'must be a name from the IANA time zone database, such as Europe/Berlin' })
          .optional(),
      })
      .optional(),
    serviceFile: z
      .object({
        mode: z.enum(SERVICE_FILE_MODES, { error: `must be one of ${SERVICE_FILE_MODES.join(', ')}` }).optional(),
        serviceFile: encodedTextField.optional(),
      })
      .optional(),
    sync: z
      .object({
        intervalSeconds: z
          .union([integerField(10, maxSyncIntervalSeconds), z.null()], {
            error: `must be an integer from 10 to ${maxSyncIntervalSeconds}, or null for the default`,
          })
          .optional(),
        newestTags: integerField(0, 100).optional(),
        rules: syncRulesSchema.nullable().optional().meta({ description: 'null: none.' }),
        dryRun: booleanField.optional(),
      })
      .optional(),
    autoBuild: booleanField.optional(),
    onRefGone: z.enum(ON_REF_GONE, { error: `must be one of ${ON_REF_GONE.join(', ')}` }).optional(),
    forks: z
      .object({
        approval: z
          .enum(FORK_APPROVALS, { error: `must be one of ${FORK_APPROVALS.join(', ')}, or null for the default` })
          .nullable()
          .optional()
          .meta({ description: "null: the installation's default." }),
        canInclude: booleanField.optional(),
      })
      .optional(),
    reusable: reusableSettingsSchema.optional(),
    ...accessChange,
    sleep: changeSleepSchema.optional(),
  })
  .refine((settings) => Object.values<unknown>(settings).some((value) => value !== undefined), {
    error:
      'needs one of environmentTTL, scheduledRebuild, serviceFile, sync, autoBuild, onRefGone, forks, reusable, access, accessPassword and sleep',
  })
  // For the OpenAPI document, which cannot express the refinement.
  .meta({ minProperties: 1 });
export type ChangeSettings = z.infer<typeof changeSettingsSchema>;

/**
 * Returns the merge patch of a Repository's spec that changes only these settings.
 * @param contentFrom reference to the stored service file: null if it is empty, absent if it does not change
 */
export function settingsPatch(
  { environmentTTL, scheduledRebuild, serviceFile, sync, autoBuild, onRefGone, forks, reusable, sleep }: ChangeSettings,
  contentFrom?: object | null,
): Record<string, unknown> {
  return {
    ...(sync !== undefined && { sync }),
    ...(autoBuild !== undefined && { autoBuild }),
    ...(onRefGone !== undefined && { onRefGone }),
    ...(forks !== undefined && { forks }),
    ...(reusable !== undefined && { reusable }),
    ...(sleep !== undefined && { sleep }),
    ...(environmentTTL !== undefined && { environmentTTLSeconds: environmentTTL }),
    ...(scheduledRebuild && {
      scheduledRebuild: { ...scheduledRebuild, ...(scheduledRebuild.hour === '' && { hour: null }) },
    }),
    ...(serviceFile && {
      serviceFile: {
        ...(serviceFile.mode !== undefined && { mode: serviceFile.mode }),
        ...(contentFrom !== undefined && { content: null, contentFrom }),
      },
    }),
  };
}

/** Returns whether the change would leave a schedule without a time of day, which never runs. */
export function leavesScheduleWithoutHour({ spec }: Repository, { scheduledRebuild }: ChangeSettings): boolean {
  if (scheduledRebuild === undefined) return false;
  const mode = scheduledRebuild.mode ?? spec.scheduledRebuild?.mode ?? 'disabled';
  const hour = scheduledRebuild.hour ?? spec.scheduledRebuild?.hour ?? '';
  return mode !== 'disabled' && hour === '';
}

/** A service file of the settings that environments use, alone or merged over the repository's. */
export interface ServiceFileInForce {
  mode: 'panel' | 'both';
  content: string;
}

/** Returns the service file of the settings after a change; undefined if it is not used, or does not change. */
export async function serviceFileInForce(
  repository: Repository,
  { serviceFile }: ChangeSettings,
  texts: Pick<ServiceFileTexts, 'read'>,
): Promise<ServiceFileInForce | undefined> {
  if (serviceFile === undefined) return undefined;
  const mode = serviceFile.mode ?? repository.spec.serviceFile?.mode ?? 'repo';
  if (mode === 'repo') return undefined;
  return { mode, content: serviceFile.serviceFile ?? (await texts.read(repository)) };
}
