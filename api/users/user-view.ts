import { z } from 'zod';
import { apiTokenView, apiTokenViewSchema } from '../user-records/api-token.ts';
import type { User } from '../user-records/user-record.ts';

/** The caller, as GET /api/user/info returns it. */
export const userViewSchema = z
  .object({
    email: z.string(),
    apiTokens: z.array(apiTokenViewSchema),
    shell: z.literal(true).optional().meta({ description: 'Extension: whether this installation permits shells.' }),
    administrator: z.literal(true).optional().meta({ description: 'Extension: whether the user manages accounts.' }),
  })
  .meta({ id: 'User' });
export type UserView = z.infer<typeof userViewSchema>;

export function userView({ email, apiTokens = [] }: User, isAdministrator = false): UserView {
  return { email, apiTokens: apiTokens.map(apiTokenView), ...(isAdministrator && { administrator: true as const }) };
}
