import { z } from 'zod';

export const GIT_REF_TYPES = ['branch', 'pull request', 'tag'] as const;

/**
 * What `git check-ref-format` refuses, and a leading `-`, which that lets pass but which a command line would read as
 * an option. Patterns that RE2 reads too: the CRD refuses the same names.
 */
const forbidden = [
  String.raw`^-|^/|/$|\.$|\.\.|//|@\{|\\|^@$`,
  String.raw`[\x00-\x20\x7f~^:?*\[]`,
  String.raw`(^|/)\.|\.lock(/|$)`,
];
const forbiddenPatterns = forbidden.map((pattern) => new RegExp(pattern));

const pullRequestNumber = /^[1-9][0-9]{0,8}$/;

export function isRefName(name: string): boolean {
  return name.length > 0 && name.isWellFormed() && !forbiddenPatterns.some((pattern) => pattern.test(name));
}

export const gitRefRules = [
  {
    rule: `self.type != 'pull request' || self.name.matches('${pullRequestNumber.source}')`,
    message: 'a pull request is named by its number',
  },
];

export const gitRefSchema = z
  .object({
    name: z
      .string()
      .min(1)
      .max(200)
      .refine(isRefName, { error: 'is not a valid Git reference name' })
      .meta({
        description: 'Short name, without refs/heads/ or refs/tags/; the number of a pull request.',
        'x-kubernetes-validations': forbidden.map((pattern) => ({
          rule: `!self.matches(r'${pattern}')`,
          message: 'is not a valid Git reference name',
        })),
      }),
    type: z.enum(GIT_REF_TYPES).meta({ description: 'Whether it is a branch, a pull request or a tag.' }),
  })
  .refine(({ name, type }) => type !== 'pull request' || pullRequestNumber.test(name), {
    error: 'a pull request is named by its number',
    path: ['name'],
  })
  .meta({
    description: 'The Git reference that an environment is made from.',
    'x-kubernetes-validations': gitRefRules,
  });
export type GitRef = z.infer<typeof gitRefSchema>;

/** Two environments hold the same ref when these keys are equal. */
export function gitRefKey(ref: GitRef): string {
  return `${ref.type}:${ref.name}`;
}

/** The full name of a branch or a tag, the same at every Git host; where a pull request is, its host says. */
export function fullRefName(ref: GitRef & { type: 'branch' | 'tag' }): string {
  return ref.type === 'branch' ? `refs/heads/${ref.name}` : `refs/tags/${ref.name}`;
}
