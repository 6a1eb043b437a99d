import { z } from 'zod';
import { REBUILD_MODES, repositorySpecSchema, SERVICE_FILE_MODES, type Repository } from '../../crds/repository.ts';
import { isTimeZone } from '../../crds/time-zone.ts';
import { longestTtlSeconds } from '../environments/environment-parameters.ts';
import { encodedTextField, integerField } from '../http/parse.ts';
import { variableViewSchema, type VariableView } from '../variables/variable-view.ts';

const reusableSettingsSchema = repositorySpecSchema.shape.reusable.unwrap();

const webhookViewSchema = z.object({
  url: z.string(),
  secret: z.string(),
  withheld: z.literal(true).optional().meta({ description: 'The token may not read the secret; `secret` is empty.' }),
  created: z.boolean().meta({ description: 'Coppice has made it at the host itself: nothing is left to enter.' }),
});
/** What to enter at the Git host for it to tell of pushes and pull requests. */
export type WebhookView = z.infer<typeof webhookViewSchema>;

/** Contract section 2, repository settings. */
export const repositorySettingsViewSchema = z
  .object({
    variables: z.array(variableViewSchema),
    sshPublicKey: z
      .string()
      .meta({ description: 'To be let in at the Git server for SSH; empty for other types than generic.' }),
    environmentTTL: z
      .int()
      .positive()
      .optional()
      .meta({ description: 'Seconds that contents of new environments live; omitted when zero.' }),
    scheduledRebuild: z.object({
      mode: z.enum(REBUILD_MODES),
      hour: z.string().meta({ description: '`hh:mm`; empty until one is set.' }),
      timeZone: z.string().meta({ description: 'Ours: a name of the IANA time zone database.' }),
    }),
    serviceFile: z.object({
      mode: z.enum(SERVICE_FILE_MODES),
      serviceFile: z.string().meta({ description: 'YAML in base64; empty when the settings hold none.' }),
    }),
    reusable: reusableSettingsSchema
      .optional()
      .meta({ description: 'Ours: which refs may publish which reusable environments.' }),
    webhook: webhookViewSchema.optional().meta({ description: 'Ours; absent until the operator has made its secret.' }),
  })
  .meta({ id: 'RepositorySettings' });
export type RepositorySettingsView = z.infer<typeof repositorySettingsViewSchema>;

export function repositorySettingsView(
  { spec, status }: Repository,
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
      serviceFile: Buffer.from(serviceFile?.content ?? '').toString('base64'),
    },
    ...(spec.reusable !== undefined && spec.reusable.length > 0 && { reusable: spec.reusable }),
    ...(webhook && { webhook }),
  };
}

/** Body of POST /api/repository/{id}/settings, contract section 4: what is absent stays as it is. */
export const changeSettingsSchema = z
  .object({
    environmentTTL: integerField(0, longestTtlSeconds).optional(),
    scheduledRebuild: z
      .object({
        mode: z.enum(REBUILD_MODES, { error: `must be one of ${REBUILD_MODES.join(', ')}` }).optional(),
        hour: z
          .string()
          .regex(/^(([01]\d|2[0-3]):[0-5]\d)?$/, { error: 'must be a time of day, hh:mm, or empty for none' })
          .optional(),
        timeZone: z
          .string()
          .refine(isTimeZone, { error: 'must be a name of the IANA time zone database, such as Europe/Berlin' })
          .optional(),
      })
      .optional(),
    serviceFile: z
      .object({
        mode: z.enum(SERVICE_FILE_MODES, { error: `must be one of ${SERVICE_FILE_MODES.join(', ')}` }).optional(),
        serviceFile: encodedTextField.optional(),
      })
      .optional(),
    reusable: reusableSettingsSchema.optional(),
  })
  .refine(
    ({ environmentTTL, scheduledRebuild, serviceFile, reusable }) =>
      (environmentTTL ?? scheduledRebuild ?? serviceFile ?? reusable) !== undefined,
    { error: 'needs one of environmentTTL, scheduledRebuild, serviceFile and reusable' },
  );
export type ChangeSettings = z.infer<typeof changeSettingsSchema>;

/** The merge patch of a Repository's spec that changes these settings alone. */
export function settingsPatch({ environmentTTL, scheduledRebuild, serviceFile, reusable }: ChangeSettings): object {
  return {
    ...(reusable !== undefined && { reusable }),
    ...(environmentTTL !== undefined && { environmentTTLSeconds: environmentTTL }),
    ...(scheduledRebuild && {
      scheduledRebuild: { ...scheduledRebuild, ...(scheduledRebuild.hour === '' && { hour: null }) },
    }),
    ...(serviceFile && {
      serviceFile: {
        ...(serviceFile.mode !== undefined && { mode: serviceFile.mode }),
        ...(serviceFile.serviceFile !== undefined && { content: serviceFile.serviceFile }),
      },
    }),
  };
}

/** Whether the change would leave a schedule that names no time: it would never come. */
export function leavesScheduleWithoutHour({ spec }: Repository, { scheduledRebuild }: ChangeSettings): boolean {
  if (scheduledRebuild === undefined) return false;
  const mode = scheduledRebuild.mode ?? spec.scheduledRebuild?.mode ?? 'disabled';
  const hour = scheduledRebuild.hour ?? spec.scheduledRebuild?.hour ?? '';
  return mode !== 'disabled' && hour === '';
}

/** The service file of the settings as a change leaves it; undefined where it does not count, or stays as it is. */
export function serviceFileInForce({ spec }: Repository, { serviceFile }: ChangeSettings): string | undefined {
  if (serviceFile === undefined) return undefined;
  const mode = serviceFile.mode ?? spec.serviceFile?.mode ?? 'repo';
  const content = serviceFile.serviceFile ?? spec.serviceFile?.content ?? '';
  return mode === 'repo' || content.trim() === '' ? undefined : content;
}
