import { z } from 'zod';

/** Permissions of a token, each including the previous ones. */
export const ACCESS = ['read', 'operate', 'administer'] as const;
export type Access = (typeof ACCESS)[number];

/** A token's names are stored in the user's Secret, which every change of a token writes. */
const maxNames = 10;
const names = z.array(z.string().min(1).max(200)).min(1).max(maxNames);

/** Restrictions of a token. An absent list restricts nothing, but a list excludes what it does not name. */
export const tokenScopesSchema = z.object({
  access: z.enum(ACCESS).optional(),
  groups: names.optional(),
  repositories: names.optional(),
});
export type TokenScopes = z.infer<typeof tokenScopesSchema>;

/** The groups (with everything in them) and repositories (with their environments) that a token can access. */
export interface Reach {
  groups: readonly string[];
  repositories: readonly string[];
}
