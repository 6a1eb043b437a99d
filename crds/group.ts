import { z } from 'zod';
import { kindAddress } from './api-group.ts';
import { conditionsSchema } from './conditions.ts';
import { displayNameSchema } from './display-name.ts';
import { ANNOTATIONS } from './labels.ts';
import { objectSchema } from './metadata.ts';
import { registrySecretsSchema, variablesSchema } from './variable.ts';

const addressesSchema = z
  .array(
    z
      .string()
      .min(3)
      .max(254)
      .regex(/^[^\sA-Z]+@[^\sA-Z]+$/),
  )
  .max(500);

export const groupSpecSchema = z.object({
  displayName: displayNameSchema,
  members: addressesSchema
    .default([])
    .meta({ description: 'E-mail addresses of the members, in lower case.', 'x-kubernetes-list-type': 'set' }),
  owners: addressesSchema.optional().meta({
    description:
      'Members who own the group in the REST API; defaults to the account that created it, or else all members.',
    'x-kubernetes-list-type': 'set',
  }),
  variables: variablesSchema,
  registrySecrets: registrySecretsSchema,
  maxActiveEnvironments: z.int().min(0).optional().meta({
    description: "Maximum number of environments with contents; defaults to the chart's `environments.maxPerGroup`.",
  }),
});

export const groupStatusSchema = z.object({
  observedGeneration: z
    .int()
    .optional()
    .meta({ description: 'The last `metadata.generation` that the operator reconciled.' }),
  namespace: z
    .string()
    .optional()
    .meta({ description: "The group's namespace, which holds its Repositories and Environments." }),
  conditions: conditionsSchema.optional(),
});

export const groupSchema = objectSchema(groupSpecSchema, groupStatusSchema);
export type Group = z.infer<typeof groupSchema> & { apiVersion: string; kind: string };

export const GROUP = kindAddress('Group', 'groups', false);

/** Returns the account that created a group through the REST API (ADR 6); undefined if none did. */
export function creatorOf(group: Pick<Group, 'metadata'> | undefined): string | undefined {
  return group?.metadata.annotations?.[ANNOTATIONS.createdBy];
}
