import { createHash } from 'node:crypto';
import { z } from 'zod';
import { kindAddress } from './api-group.ts';
import { conditionsSchema } from './conditions.ts';
import { gitRefSchema } from './git-ref.ts';
import { objectSchema } from './metadata.ts';
import { hashedName, slug } from './names.ts';
import { timestampSchema } from './timestamp.ts';

const immutable = {
  'x-kubernetes-validations': [
    { rule: 'self == oldSelf', message: 'cannot be changed. Delete the object, and a build publishes it again' },
  ],
};

/** The label in a service file's `x-coppice.reusable` and `x-coppice.from`. */
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
  label: reusableLabelSchema.meta({ description: 'Label that service files refer to.', ...immutable }),
});

const volumeCopySchema = z.object({
  name: z.string().meta({ description: 'Name of the volume in the service file.' }),
  claim: z
    .string()
    .meta({ description: "PersistentVolumeClaim of the copy, in the namespace of the group's published volumes." }),
  size: z.string().meta({ description: 'Requested size of the copy.' }),
});

/**
 * The publication is recorded in the status, which only Coppice writes, so that no manifest can reference volumes or
 * images of others.
 */
export const reusableEnvironmentStatusSchema = z.object({
  observedGeneration: z
    .int()
    .optional()
    .meta({ description: 'The last `metadata.generation` that the operator reconciled.' }),
  from: z
    .object({
      environment: z.string().meta({ description: 'Name of the Environment.' }),
      environmentUID: z.string().meta({ description: 'UID of the Environment.' }),
      gitRef: gitRefSchema,
      commit: z.string().optional().meta({ description: 'Commit that was built.' }),
      build: z.int().meta({ description: 'Number of the build.' }),
    })
    .optional()
    .meta({ description: 'The environment that it was published from.' }),
  publication: z.string().optional().meta({ description: 'Differs for each publication.' }),
  builtAt: timestampSchema.optional().meta({ description: 'When that build was deployed.' }),
  images: z
    .array(
      z.object({
        service: z.string().meta({ description: 'Service that runs the image.' }),
        image: z.string().meta({ description: 'The image, by digest.' }),
      }),
    )
    .optional()
    .meta({ description: 'Images by digest; the registry keeps them as long as this object exists.' }),
  volumes: z.array(volumeCopySchema).optional().meta({ description: 'The copied volumes.' }),
  conditions: conditionsSchema.optional(),
});

export const reusableEnvironmentSchema = objectSchema(reusableEnvironmentSpecSchema, reusableEnvironmentStatusSchema);
export type ReusableEnvironment = z.infer<typeof reusableEnvironmentSchema> & { apiVersion: string; kind: string };
export type ReusableEnvironmentStatus = NonNullable<ReusableEnvironment['status']>;

export const REUSABLE_ENVIRONMENT = kindAddress('ReusableEnvironment', 'reusableenvironments', true);

/** Returns the name of a repository's reusable environment with this label. */
export function reusableName(repository: string, label: string): string {
  return hashedName(slug(`${repository}-${label}`), `${repository}/${label}`, 63);
}

/** Returns the name from before hashes had 80 bits. */
export function formerReusableName(repository: string, label: string): string {
  const readable = slug(`${repository}-${label}`).slice(0, 50).replace(/-+$/, '');
  const hash = createHash('sha256').update(`${repository}/${label}`).digest('hex').slice(0, 8);
  return `${readable}-${hash}`;
}

/** Returns the namespace of the volumes of a group's reusable environments. */
export function storeNamespace(group: string): string {
  return `reusable-${group}`;
}
