import { z } from 'zod';

export const GIT_REF_TYPES = ['branch', 'pull request', 'tag'] as const;

/**
 * Patterns of names that `git check-ref-format` refuses, and a leading `-`, which a command line would read as an
 * option. They are valid in RE2, because the CRD uses them too.
 */
const forbidden = [
  String.raw`^-|^/|/$|\.$|\.\.|//|@\{|\\|^@$`,
  String.raw`[\x00-\x20\x7f~^:?*\[]`,
  String.raw`(^|/)\.|\.lock(/|$)`,
];
const forbiddenPatterns = forbidden.map((pattern) => new RegExp(pattern));

const notRefName = 'is not a valid Git reference name, such as feature/login';

const pullRequestNumber = /^[1-9][0-9]{0,8}$/;

export function isRefName(name: string): boolean {
  return name.length > 0 && name.isWellFormed() && !forbiddenPatterns.some((pattern) => pattern.test(name));
}

export const GIT_REF_RULES = [
  {
    rule: `self.type != 'pull request' || self.name.matches('${pullRequestNumber.source}')`,
    message: 'a pull request is named by its number, such as 42',
  },
];

export const gitRefSchema = z
  .object({
    name: z
      .string()
      .min(1)
      .max(200)
      .refine(isRefName, { error: notRefName })
      .meta({
        description: 'Short name of a branch or tag, without refs/heads/ or refs/tags/, or number of a pull request.',
        'x-kubernetes-validations': forbidden.map((pattern) => ({
          rule: `!self.matches(r'${pattern}')`,
          message: notRefName,
        })),
      }),
    type: z.enum(GIT_REF_TYPES).meta({ description: 'Whether it is a branch, a pull request or a tag.' }),
  })
  .refine(({ name, type }) => type !== 'pull request' || pullRequestNumber.test(name), {
    error: 'a pull request is named by its number, such as 42',
    path: ['name'],
  })
  .meta({
    description: 'The Git reference that an environment is made from.',
    'x-kubernetes-validations': GIT_REF_RULES,
  });
export type GitRef = z.infer<typeof gitRefSchema>;

/** Returns a key that is equal for environments of the same ref. */
export function gitRefKey(ref: GitRef): string {
  return `${ref.type}:${ref.name}`;
}

/** Returns the full name of a branch or tag, the same at every Git host; pull requests are located by their host. */
export function fullRefName(ref: GitRef & { type: 'branch' | 'tag' }): string {
  return ref.type === 'branch' ? `refs/heads/${ref.name}` : `refs/tags/${ref.name}`;
}
