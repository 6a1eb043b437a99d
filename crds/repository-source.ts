import { z } from 'zod';

/** The repository types of the REST API. */
export const REPOSITORY_TYPES = ['generic', 'cloudorg', 'workspacehost', 'groupedhost', 'ownerhost'] as const;
export type RepositoryType = (typeof REPOSITORY_TYPES)[number];

const notUrl = 'is not a valid URL, such as https://git.example.com/team/shop';
const isUrl = { 'x-kubernetes-validations': [{ rule: 'isURL(self)', message: notUrl }] };
const host = String.raw`([A-Za-z0-9][A-Za-z0-9.-]*|\[[0-9A-Fa-f:.]+\])(:\d{1,5})?`;
const httpUrl = String.raw`https?://${host}/[^\s@]*`;
const sshUrl = String.raw`ssh://([A-Za-z0-9_][A-Za-z0-9_.-]*@)?${host}/[^\s@]+`;
/** Git's scp-like form, `git@host:path`: some servers would read a path that starts with `-` as an option. */
const scpForm = String.raw`([A-Za-z0-9_][A-Za-z0-9_.-]*@)?[A-Za-z0-9][A-Za-z0-9.-]*:/?[^\s@:/-][^\s@:]*`;

/** A URL without credentials, which logs or errors would show. */
export const originSchema = z
  .string()
  .max(2048)
  .regex(new RegExp(`^(${httpUrl}|${sshUrl}|${scpForm})$`), {
    error: 'must be an http://, https:// or ssh:// URL, or user@host:path, without a password',
  })
  .refine((origin) => !origin.includes('://') || URL.canParse(origin), { error: notUrl })
  .meta({
    'x-kubernetes-validations': [{ rule: "!self.contains('://') || isURL(self)", message: notUrl }],
  });

/** The web address of a self-hosted instance. */
export const instanceUrlSchema = z
  .string()
  .max(2048)
  .regex(new RegExp(`^https?://${host}(/[A-Za-z0-9._~/-]*)?$`), { error: 'must be an http:// or https:// URL' })
  .refine((url) => URL.canParse(url), { error: notUrl })
  .meta(isUrl);

/** One segment of a path at a host: no slash, and nothing with a special meaning in URLs or git. */
const pathPart = (pattern: RegExp, what: string) =>
  z
    .string()
    .min(1)
    .max(255)
    .regex(pattern, { error: `must be ${what}` })
    .refine((part) => part !== '.' && part !== '..', { error: `must be ${what}` })
    .meta({ 'x-kubernetes-validations': [{ rule: "self != '.' && self != '..'", message: `must be ${what}` }] });
const plainPart = pathPart(/^[A-Za-z0-9_.-]+$/, 'letters, digits, dots, dashes and underscores');
/** Azure DevOps permits spaces and letters of any script in names. */
// Control characters by their codes: generators of clients read the pattern in the OpenAPI document, and not all know \p{Cc}.
const spacedPart = pathPart(
  new RegExp(String.raw`^[^\s/\\?#%:*"<>|@\x00-\x1f\x7f-\x9f][^/\\?#%:*"<>|\x00-\x1f\x7f-\x9f]*$`),
  'a name without / \\ ? # % : * " < > |',
);
const nestedPart = z
  .string()
  .min(1)
  .max(1024)
  .regex(/^[A-Za-z0-9_.-]+(\/[A-Za-z0-9_.-]+)*$/, { error: 'must be names with / between them' })
  .refine((path) => !/(^|\/)\.{1,2}(\/|$)/.test(path), { error: 'must not contain . or .. as a segment' })
  .meta({
    'x-kubernetes-validations': [
      { rule: "!self.matches(r'(^|/)\\.{1,2}(/|$)')", message: 'must not contain . or .. as a segment' },
    ],
  });

const secretName = z.string().min(1).max(253).optional();
const tokenSecret = secretName.meta({ description: 'Name of a Secret in this namespace with the key `token`.' });

export const genericSourceSchema = z.object({
  origin: originSchema.meta({ ...originSchema.meta(), description: 'Address of the Git repository.' }),
  credentialsSecret: secretName.meta({
    description: 'Over HTTP(S): name of a Secret in this namespace with the keys `username` and `password`.',
  }),
  knownHosts: z.string().max(65_536).optional().meta({
    description:
      "Over SSH: the host's public keys in known_hosts format; if absent, the keys of the first connection are trusted.",
  }),
});
export const ownerhostSourceSchema = z.object({
  instanceUrl: instanceUrlSchema.optional().meta({
    ...instanceUrlSchema.meta(),
    description: 'Web address of a self-hosted instance; defaults to the public one.',
  }),
  owner: plainPart.meta({ description: 'User or organization that owns the repository.' }),
  repo: plainPart.meta({ description: 'Name of the repository.' }),
  credentialsSecret: tokenSecret,
});
export const groupedhostSourceSchema = z.object({
  instanceUrl: instanceUrlSchema.optional().meta({
    ...instanceUrlSchema.meta(),
    description: 'Web address of the instance; defaults to the public one.',
  }),
  group: nestedPart.meta({ ...nestedPart.meta(), description: 'Full path of the group: a/b/c.' }),
  project: plainPart.meta({ description: 'Name of the project in its group.' }),
  credentialsSecret: tokenSecret,
});
export const cloudorgSourceSchema = z.object({
  orgUrl: instanceUrlSchema.meta({ ...instanceUrlSchema.meta(), description: 'Web address of the organization.' }),
  project: spacedPart.meta({ description: 'Name of the project in the organization.' }),
  repoName: spacedPart.meta({ description: 'Name of the repository in the project.' }),
  credentialsSecret: tokenSecret,
});
export const workspacehostSourceSchema = z.object({
  workspace: plainPart.meta({ description: 'Workspace that the repository is in.' }),
  repository: plainPart.meta({ description: 'Name of the repository in the workspace.' }),
  credentialsSecret: tokenSecret,
});
