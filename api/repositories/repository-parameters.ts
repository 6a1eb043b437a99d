import { z } from 'zod';
import { slug } from '../../crds/names.ts';
import {
  cloudorgSourceSchema,
  groupedhostSourceSchema,
  instanceUrlSchema,
  originSchema,
  ownerhostSourceSchema,
  REPOSITORY_TYPES,
  type RepositoryType,
  workspacehostSourceSchema,
} from '../../crds/repository-source.ts';
import type { Repository } from '../../crds/repository.ts';
import { booleanField, lineField, nameField } from '../http/parse.ts';

/** Maximum length in the CRD. */
const maxName = 40;

/** Returns the resource name for a repository's name; empty if the name has no letter or digit. */
export function repositoryResourceName(name: string): string {
  return slug(name).slice(0, maxName).replace(/-+$/, '');
}

const httpOrigin = /^https?:\/\//i;

/**
 * Returns what is wrong with an origin; undefined if it is valid. Never repeats the origin, which may contain a
 * password.
 */
export function originFault(origin: string): string | undefined {
  const url = URL.canParse(origin) ? new URL(origin) : undefined;
  if (httpOrigin.test(origin) && url && (url.username !== '' || url.password !== '')) {
    return 'must not contain credentials: send them as username and password';
  }
  if (originSchema.safeParse(origin).success) return undefined;
  return 'must be an http://, https:// or ssh:// URL, or user@host:path, without a password';
}

/** A value sent in a header; a space or line break in it was pasted accidentally. */
const token = z
  .string()
  .trim()
  .max(4096)
  .regex(/^[\x21-\x7e]*$/, { error: 'must be printable ASCII without spaces' });
const requiredToken = token.min(1, { error: 'must not be empty' });
/** An empty value counts as absent, as the contract requires for groupedhost. */
const instanceUrlField = z
  .string()
  .transform((url) => (url === '' ? undefined : url))
  .pipe(instanceUrlSchema.optional())
  .optional();

const genericParameters = z
  .object({
    origin: z
      .string()
      .max(2048)
      .superRefine((origin, context) => {
        const message = originFault(origin);
        if (message !== undefined) context.addIssue({ code: 'custom', message });
      }),
    username: lineField
      .refine((name) => !name.includes(':'), { error: 'must not contain a colon' })
      .max(255)
      .default(''),
    password: lineField.max(4096).default(''),
  })
  .superRefine(({ origin, username, password }, context) => {
    if (httpOrigin.test(origin)) return;
    for (const [field, value] of Object.entries({ username, password })) {
      const message = 'is for http:// and https:// origins: over SSH Coppice uses the key in the settings';
      if (value !== '') context.addIssue({ code: 'custom', path: [field], message });
    }
  });
const ownerhostParameters = z.object({
  ...ownerhostSourceSchema.pick({ owner: true, repo: true }).shape,
  instanceUrl: instanceUrlField,
  token: token.default(''),
});
const groupedhostParameters = z.object({
  ...groupedhostSourceSchema.pick({ group: true, project: true }).shape,
  instanceUrl: instanceUrlField,
  token: requiredToken,
});
const cloudorgParameters = z.object({
  ...cloudorgSourceSchema.pick({ orgUrl: true, project: true, repoName: true }).shape,
  accessToken: requiredToken,
});
const workspacehostParameters = z.object({
  ...workspacehostSourceSchema.pick({ workspace: true, repository: true }).shape,
  token: requiredToken,
});

const name = nameField.refine((text) => repositoryResourceName(text) !== '', {
  error: 'must contain a letter or a digit',
});

/** Fields of every type. */
const common = {
  name,
  sync: booleanField.default(false).meta({
    description:
      'Extension: whether to synchronize with the refs at once, not after an interval. A spawn of a ref that the sync ' +
      'has given an environment creates another one, unless `ifExists` is `reuse`.',
  }),
};

/** Body of POST /api/group/{id}. */
export const addRepositorySchema = z.discriminatedUnion(
  'type',
  [
    z.object({ ...common, type: z.literal('generic'), params: genericParameters }),
    z.object({ ...common, type: z.literal('ownerhost'), params: ownerhostParameters }),
    z.object({ ...common, type: z.literal('groupedhost'), params: groupedhostParameters }),
    z.object({ ...common, type: z.literal('cloudorg'), params: cloudorgParameters }),
    z.object({ ...common, type: z.literal('workspacehost'), params: workspacehostParameters }),
  ],
  // Reports a value that is not an object as such.
  { error: ({ input }) => (input instanceof Object ? `must be one of ${REPOSITORY_TYPES.join(', ')}` : undefined) },
);
export type AddRepository = z.infer<typeof addRepositorySchema>;

/** Query of GET /api/repository/{id} (an extension). */
export const repositoryQuerySchema = z.object({
  environments: booleanField.default(true).meta({
    description: 'Whether to list the environments; `…/environments` lists them in pages.',
  }),
});

/** Body of POST /api/repository/{id}: the display name. The ID does not change. */
export const renameSchema = z.object({ name: nameField });

/** Returns the data of the Secret with a repository's credentials; undefined if the request has none. */
export function credentialTexts({ type, params }: AddRepository): Record<string, string> | undefined {
  switch (type) {
    case 'generic': {
      const { username, password } = params;
      return username === '' && password === '' ? undefined : { username, password };
    }
    case 'cloudorg':
      return { token: params.accessToken };
    default:
      return params.token === '' ? undefined : { token: params.token };
  }
}

/** Returns the part of a Repository's spec that locates the repository. */
export function sourceSpec(
  { type, params }: AddRepository,
  credentialsSecret: string | undefined,
): Pick<Repository['spec'], 'type' | RepositoryType> {
  const secret = credentialsSecret === undefined ? {} : { credentialsSecret };
  switch (type) {
    case 'generic':
      return { type, generic: { origin: params.origin, ...secret } };
    case 'ownerhost': {
      const { owner, repo, instanceUrl } = params;
      return { type, ownerhost: { owner, repo, instanceUrl, ...secret } };
    }
    case 'groupedhost': {
      const { group, project, instanceUrl } = params;
      return { type, groupedhost: { group, project, instanceUrl, ...secret } };
    }
    case 'cloudorg': {
      const { orgUrl, project, repoName } = params;
      return { type, cloudorg: { orgUrl, project, repoName, ...secret } };
    }
    case 'workspacehost': {
      const { workspace, repository } = params;
      return { type, workspacehost: { workspace, repository, ...secret } };
    }
  }
}
