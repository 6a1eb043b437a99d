import { z } from 'zod';
import type { Caller } from '../auth/caller.ts';
import { endpoint, type Endpoint } from '../http/endpoint.ts';
import { NotFound } from '../shared/errors.ts';
import { NO_SUCH_RESOURCE } from '../shared/messages.ts';
import type { Administration } from './administration.ts';
import { isUnused } from './accounts.ts';
import { newUserSchema } from './user-parameters.ts';
import type { User } from '../user-records/user-record.ts';

const accountSchema = z
  .object({
    email: z.string(),
    verified: z.boolean().describe('Whether the address is verified.'),
    invited: z.boolean().describe('An administrator added the address, and nobody has registered yet.'),
    administrator: z.boolean(),
  })
  .meta({ id: 'Account' });

export const removedAccountSchema = z
  .object({
    email: z.string(),
    groupsWithoutMembers: z.array(z.string()).describe('The ids of groups that have no members left.'),
  })
  .meta({ id: 'RemovedAccount' });

/** Returns the routes (an extension) for administrators to manage accounts. Other callers get 404. */
export function administrationRoutes({ administration }: { administration: Administration }): Endpoint[] {
  const find = ({ user }: Caller) => {
    if (!administration.isAdministrator(user)) throw new NotFound(NO_SUCH_RESOURCE);
  };
  const view = (user: User) => ({
    email: user.email,
    verified: user.verified,
    invited: isUnused(user),
    administrator: administration.isAdministrator(user),
  });
  return [
    endpoint({
      method: 'get',
      path: '/api/users',
      summary: 'Lists all users; for administrators',
      find,
      writes: false,
      isOfAccount: true,
      answer: z.array(accountSchema),
      run: () => administration.list().map(view),
    }),
    endpoint({
      method: 'post',
      path: '/api/users',
      summary: 'Adds a user; for administrators',
      description: 'The one-time `invitation` is shown once. Registering with it verifies the address.',
      find,
      writes: true,
      isOfAccount: true,
      needsLogin: true,
      body: newUserSchema,
      status: 201,
      answer: z.object({ email: z.string(), invitation: z.string(), expiresAt: z.iso.datetime() }),
      also: { 409: 'The address has a verified account.' },
      run: async ({ body: { email } }) => ({ email, ...(await administration.invite(email)) }),
    }),
    endpoint({
      method: 'delete',
      path: '/api/users/{email}',
      summary: 'Removes a user with their logins, tokens and memberships; for administrators',
      find: (caller, { email }) => {
        find(caller);
        return email.toLowerCase();
      },
      writes: true,
      isOfAccount: true,
      needsLogin: true,
      answer: removedAccountSchema,
      also: { 409: 'The chart names the address as an administrator.' },
      run: async ({ target: email }) => ({ email, groupsWithoutMembers: await administration.remove(email) }),
    }),
  ];
}
