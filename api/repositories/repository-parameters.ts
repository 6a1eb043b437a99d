import { z } from 'zod';
import { slug } from '../../crds/names.ts';
import { originSchema } from '../../crds/repository.ts';
import { nameField } from '../http/parse.ts';

/** Contract section 2. */
const REPOSITORY_TYPES = ['generic', 'cloudorg', 'workspacehost', 'groupedhost', 'ownerhost'] as const;

/** The CRD's limit. */
const longestName = 40;

/** The resource name that a repository's name gives; empty when the name holds no letter and no digit. */
export function repositoryResourceName(name: string): string {
  return slug(name).slice(0, longestName).replace(/-+$/, '');
}

/** What is wrong with an origin, or undefined. Never repeats it: there may be a password in it. */
export function originFault(origin: string): string | undefined {
  if (/^ssh:\/\//i.test(origin) || /^[^\s/:]+:(?!\/\/)/.test(origin)) return 'SSH origins are not supported yet';
  const url = URL.canParse(origin) ? new URL(origin) : undefined;
  if (url && (url.username !== '' || url.password !== '')) {
    return 'must hold no credentials: send them as username and password';
  }
  return originSchema.safeParse(origin).success && url ? undefined : 'must be an http:// or https:// URL';
}

const genericParametersSchema = z.object({
  origin: z
    .string()
    .max(2048)
    .superRefine((origin, context) => {
      const message = originFault(origin);
      if (message !== undefined) context.addIssue({ code: 'custom', message });
    }),
  username: z.string().max(255).default(''),
  password: z.string().max(4096).default(''),
});

/** Body of POST /api/group/{id}, contract section 4. */
export const addRepositorySchema = z.object({
  name: nameField.refine((name) => repositoryResourceName(name) !== '', { error: 'must contain a letter or a digit' }),
  type: z
    .enum(REPOSITORY_TYPES, { error: `must be one of ${REPOSITORY_TYPES.join(', ')}` })
    .refine((type) => type === 'generic', { error: 'is not supported yet; only generic is', abort: true }),
  params: genericParametersSchema,
});
export type AddRepository = z.infer<typeof addRepositorySchema>;
