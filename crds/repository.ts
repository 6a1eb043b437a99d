import { z } from 'zod';
import { kindAddress } from './api-group.ts';
import { conditionsSchema } from './conditions.ts';
import { displayNameSchema } from './display-name.ts';
import { objectSchema } from './metadata.ts';

/** HTTP(S) only for now; credentials never in the URL, where a log or an error would show them. */
export const originSchema = z
  .string()
  .max(2048)
  .regex(/^https?:\/\/([A-Za-z0-9.-]+|\[[0-9A-Fa-f:.]+\])(:\d{1,5})?\/[^\s@]*$/, {
    error: 'must be an http:// or https:// URL without credentials',
  })
  .refine((origin) => URL.canParse(origin), { error: 'is not a valid URL' })
  .meta({ 'x-kubernetes-validations': [{ rule: 'isURL(self)', message: 'is not a valid URL' }] });

export const repositorySpecSchema = z
  .object({
    displayName: displayNameSchema,
    type: z.enum(['generic']).meta({ description: 'What kind of Git host the repository is on.' }),
    generic: z
      .object({
        origin: originSchema.meta({
          ...originSchema.meta(),
          description: 'Address of the Git repository.',
        }),
        credentialsSecret: z
          .string()
          .min(1)
          .max(253)
          .optional()
          .meta({ description: 'Name of a Secret in this namespace with the keys `username` and `password`.' }),
      })
      .optional(),
  })
  .meta({
    'x-kubernetes-validations': [
      { rule: "self.type != 'generic' || has(self.generic)", message: 'type generic needs the object `generic`' },
    ],
  });

export const repositoryStatusSchema = z.object({
  observedGeneration: z.int().optional(),
  conditions: conditionsSchema.optional(),
});

export const repositorySchema = objectSchema(repositorySpecSchema, repositoryStatusSchema);
export type Repository = z.infer<typeof repositorySchema> & { apiVersion: string; kind: string };

export const REPOSITORY = kindAddress('Repository', 'repositories', true);
