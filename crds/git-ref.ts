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

export function isRefName(name: string): boolean {
  return name.length > 0 && !forbiddenPatterns.some((pattern) => pattern.test(name));
}

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
    type: z.enum(GIT_REF_TYPES),
  })
  .meta({ description: 'The Git reference that an environment is made from.' });
export type GitRef = z.infer<typeof gitRefSchema>;

/** Two environments hold the same ref when these keys are equal. */
export function gitRefKey(ref: GitRef): string {
  return `${ref.type}:${ref.name}`;
}

/** The ref's full name at the Git host; pull requests as GitHub and Gitea publish them. */
export function fullRefName(ref: GitRef): string {
  switch (ref.type) {
    case 'branch':
      return `refs/heads/${ref.name}`;
    case 'tag':
      return `refs/tags/${ref.name}`;
    case 'pull request':
      return `refs/pull/${ref.name}/head`;
  }
}
