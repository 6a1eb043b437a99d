import { z } from 'zod';
import type { ListedSession, Sessions } from '../auth/sessions.ts';
import { endpoint, nothing, type Endpoint } from '../http/endpoint.ts';
import { NotFound } from '../shared/errors.ts';
import { stripControls } from '../../build-logs/controls.ts';

const path = '/api/user/sessions';

export const sessionViewSchema = z
  .object({
    id: z.string().meta({ description: 'Names the login; it gives no access.' }),
    createdAt: z.int(),
    usedAt: z.int().meta({ description: 'The last use, within 5 minutes.' }),
    expiresAt: z.int().meta({ description: 'When it ends without further use.' }),
    client: z.string().optional().meta({ description: 'The User-Agent of the program that logged in.' }),
    current: z.literal(true).optional().meta({ description: 'The login of this request.' }),
  })
  .meta({ id: 'Session', description: 'A login. Times are Unix seconds.' });
export type SessionView = z.infer<typeof sessionViewSchema>;

/** Returns the routes with which users see and end their own logins. */
export function sessionRoutes({ sessions }: { sessions: Pick<Sessions, 'list' | 'revokeListed'> }): Endpoint[] {
  return [
    endpoint({
      method: 'get',
      path,
      summary: "Lists the caller's logins, those used last first (extension)",
      find: nothing,
      writes: false,
      isOfAccount: true,
      needsLogin: true,
      answer: z.array(sessionViewSchema),
      run: async ({ caller: { user, credential } }) =>
        (await sessions.list(user.accountId, credential.token)).map(sessionView),
    }),
    endpoint({
      method: 'delete',
      path: `${path}/{sessionID}`,
      summary: "Ends one of the caller's logins (extension)",
      find: (_caller, { sessionID }) => sessionID,
      writes: true,
      isOfAccount: true,
      needsLogin: true,
      answer: z.object({}),
      run: async ({ caller: { user }, target: id }) => {
        if (!(await sessions.revokeListed(user.accountId, id))) {
          throw new NotFound('you have no login of this id. GET /api/user/sessions lists them');
        }
        return {};
      },
    }),
  ];
}

function sessionView({ createdAt, usedAt, expiresAt, client, isCurrent, id }: ListedSession): SessionView {
  const seconds = (milliseconds: number) => Math.floor(milliseconds / 1000);
  return {
    id,
    createdAt: seconds(createdAt),
    usedAt: seconds(usedAt),
    expiresAt: seconds(expiresAt),
    ...(client !== undefined && { client: stripControls(client) }),
    ...(isCurrent && { current: true as const }),
  };
}
