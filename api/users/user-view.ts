import { z } from 'zod';
import { apiTokenView, apiTokenViewSchema } from '../user-records/api-token.ts';
import type { User } from '../user-records/user-record.ts';

/** The caller, as GET /api/user/info returns it. */
export const userViewSchema = z
  .object({ email: z.string(), apiTokens: z.array(apiTokenViewSchema) })
  .meta({ id: 'User' });
export type UserView = z.infer<typeof userViewSchema>;

export function userView({ email, apiTokens = [] }: User): UserView {
  return { email, apiTokens: apiTokens.map(apiTokenView) };
}
