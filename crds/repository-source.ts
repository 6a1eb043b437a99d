import { z } from 'zod';

/** Contract section 2. */
export const REPOSITORY_TYPES = ['generic', 'cloudorg', 'workspacehost', 'groupedhost', 'ownerhost'] as const;
export type RepositoryType = (typeof REPOSITORY_TYPES)[number];

const isUrl = { 'x-kubernetes-validations': [{ rule: 'isURL(self)', message: 'is not a valid URL' }] };
const host = String.raw`([A-Za-z0-9][A-Za-z0-9.-]*|\[[0-9A-Fa-f:.]+\])(:\d{1,5})?`;
const httpUrl = String.raw`https?://${host}/[^\s@]*`;
const sshUrl = String.raw`ssh://([A-Za-z0-9_][A-Za-z0-9_.-]*@)?${host}/[^\s@]+`;
/** Git's scp-like form, `git@host:path`: some servers would read a path that begins with `-` as an option. */
const scpForm = String.raw`([A-Za-z0-9_][A-Za-z0-9_.-]*@)?[A-Za-z0-9][A-Za-z0-9.-]*:/?[^\s@:/-][^\s@:]*`;

/** Credentials never in the URL, where a log or an error would show them. */
export const originSchema = z
  .string()
  .max(2048)
  .regex(new RegExp(`^(${httpUrl}|${sshUrl}|${scpForm})$`), {
    error: 'must be an http://, https:// or ssh:// URL, or user@host:path, without a password',
  })
  .refine((origin) => !origin.includes('://') || URL.canParse(origin), { error: 'is not a valid URL' })
  .meta({
    'x-kubernetes-validations': [{ rule: "!self.contains('://') || isURL(self)", message: 'is not a valid URL' }],
  });

/** The web address of an instance of a host that can be run by oneself. */
export const instanceUrlSchema = z
  .string()
  .max(2048)
  .regex(new RegExp(`^https?://${host}(/[A-Za-z0-9._~/-]*)?$`), { error: 'must be an http:// or https:// URL' })
  .refine((url) => URL.canParse(url), { error: 'is not a valid URL' })
  .meta(isUrl);

/** A part of a path at a host: no slash, nothing that a URL or git would read otherwise. */
const pathPart = (pattern: RegExp, what: string) =>
  z
    .string()
    .min(1)
    .max(255)
    .regex(pattern, { error: `must be ${what}` })
    .refine((part) => part !== '.' && part !== '..', { error: `must be ${what}` })
    .meta({ 'x-kubernetes-validations': [{ rule: "self != '.' && self != '..'", message: `must be ${what}` }] });
const plainPart = pathPart(/^[A-Za-z0-9_.-]+$/, 'letters, digits, dots, dashes and underscores');
/** Azure DevOps lets projects and repositories hold spaces and letters of any script. */
const spacedPart = pathPart(/^[^\s/\\?#%:*"<>|@][^/\\?#%:*"<>|\p{Cc}]*$/u, 'a name without / \\ ? # % : * " < > |');
const nestedPart = z
  .string()
  .min(1)
  .max(1024)
  .regex(/^[A-Za-z0-9_.-]+(\/[A-Za-z0-9_.-]+)*$/, { error: 'must be names with / between them' })
  .refine((path) => !/(^|\/)\.{1,2}(\/|$)/.test(path), { error: 'must not hold . or ..' })
  .meta({
    'x-kubernetes-validations': [{ rule: "!self.matches(r'(^|/)\\.{1,2}(/|$)')", message: 'must not hold . or ..' }],
  });

const secretName = z.string().min(1).max(253).optional();
const tokenSecret = secretName.meta({ description: 'Name of a Secret in this namespace with the key `token`.' });

export const genericSourceSchema = z.object({
  origin: originSchema.meta({ ...originSchema.meta(), description: 'Address of the Git repository.' }),
  credentialsSecret: secretName.meta({
    description: 'Over HTTP(S): name of a Secret in this namespace with the keys `username` and `password`.',
  }),
  knownHosts: z.string().max(65_536).optional().meta({
    description: "Over SSH: the host's public keys, as in a known_hosts file; without them the first contact decides.",
  }),
});
export const ownerhostSourceSchema = z.object({
  instanceUrl: instanceUrlSchema.optional().meta({
    ...instanceUrlSchema.meta(),
    description: "Web address of an instance of one's own; the public one without.",
  }),
  owner: plainPart.meta({ description: 'User or organization that owns the repository.' }),
  repo: plainPart.meta({ description: 'Name of the repository.' }),
  credentialsSecret: tokenSecret,
});
export const groupedhostSourceSchema = z.object({
  instanceUrl: instanceUrlSchema.optional().meta({
    ...instanceUrlSchema.meta(),
    description: 'Web address of the instance; the public one without.',
  }),
  group: nestedPart.meta({ ...nestedPart.meta(), description: 'The group, with the groups that it is in: a/b/c.' }),
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
