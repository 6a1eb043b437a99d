import { createHash } from 'node:crypto';
import { z } from 'zod';
import { kindAddress } from './api-group.ts';
import { conditionsSchema } from './conditions.ts';
import { gitRefSchema } from './git-ref.ts';
import { objectSchema } from './metadata.ts';
import { hashedName, slug } from './names.ts';

const immutable = { 'x-kubernetes-validations': [{ rule: 'self == oldSelf', message: 'cannot be changed' }] };
const time = z.iso.datetime({ offset: true }).meta({ format: 'date-time' });

/** What a service file's `x-coppice.reusable` and `x-coppice.from` name. */
export const reusableLabelSchema = z
  .string()
  .max(40)
  .regex(/^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/);

export const reusableEnvironmentSpecSchema = z.object({
  repository: z
    .string()
    .min(1)
    .max(63)
    .meta({ description: 'Name of the Repository in the same namespace.', ...immutable }),
  label: reusableLabelSchema.meta({ description: 'What service files name it by.', ...immutable }),
});

const volumeCopySchema = z.object({
  name: z.string().meta({ description: 'The volume, as the service file has it.' }),
  claim: z.string().meta({ description: "PersistentVolumeClaim of the copy, in the group's store." }),
  size: z.string().meta({ description: 'What the copy asks for.' }),
});

/**
 * What was published stands in the status, which Coppice alone writes: so no manifest can name volumes or images that
 * are somebody else's.
 */
export const reusableEnvironmentStatusSchema = z.object({
  observedGeneration: z.int().optional().meta({ description: 'The `metadata.generation` that the operator has seen.' }),
  from: z
    .object({
      environment: z.string().meta({ description: 'Name of the Environment.' }),
      environmentUID: z.string().meta({ description: 'UID of the Environment.' }),
      gitRef: gitRefSchema,
      commit: z.string().optional().meta({ description: 'Commit that was built.' }),
      build: z.int().meta({ description: 'Number of the build.' }),
    })
    .optional()
    .meta({ description: 'Where it came from.' }),
  publication: z.string().optional().meta({ description: 'Differs for each publication.' }),
  builtAt: time.optional().meta({ description: 'When the build that it came from had come up.' }),
  images: z
    .array(
      z.object({
        service: z.string().meta({ description: 'Service that runs the image.' }),
        image: z.string().meta({ description: 'The image, by digest.' }),
      }),
    )
    .optional()
    .meta({ description: 'By digest; they are kept in the registry as long as this is there.' }),
  volumes: z.array(volumeCopySchema).optional().meta({ description: 'The copied volumes.' }),
  conditions: conditionsSchema.optional(),
});

export const reusableEnvironmentSchema = objectSchema(reusableEnvironmentSpecSchema, reusableEnvironmentStatusSchema);
export type ReusableEnvironment = z.infer<typeof reusableEnvironmentSchema> & { apiVersion: string; kind: string };
export type ReusableEnvironmentStatus = NonNullable<ReusableEnvironment['status']>;

export const REUSABLE_ENVIRONMENT = kindAddress('ReusableEnvironment', 'reusableenvironments', true);

/** The one name that a repository's reusable environment of this label has. */
export function reusableName(repository: string, label: string): string {
  return hashedName(slug(`${repository}-${label}`), `${repository}/${label}`, 63);
}

/** The name that it had before names' hashes had 80 bits. */
export function formerReusableName(repository: string, label: string): string {
  const readable = slug(`${repository}-${label}`).slice(0, 50).replace(/-+$/, '');
  const hash = createHash('sha256').update(`${repository}/${label}`).digest('hex').slice(0, 8);
  return `${readable}-${hash}`;
}

/** The namespace that keeps the volumes of a group's reusable environments. */
export function storeNamespace(group: string): string {
  return `reusable-${group}`;
}
