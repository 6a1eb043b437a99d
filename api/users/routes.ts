import { z } from 'zod';
import type { Sessions } from '../auth/sessions.ts';
import { endpoint, nothing, openEndpoint, type Endpoint } from '../http/endpoint.ts';
import type { Accounts } from './accounts.ts';
import type { ApiTokens } from './api-tokens.ts';
import { clearLoginCookie } from './login-cookie.ts';
import { acceptInvitationSchema, loginSchema, passwordChangeSchema, registerSchema } from './user-parameters.ts';
import type { UserStore } from './user-store.ts';
import { userView, userViewSchema } from './user-view.ts';

/** Register and login: the two endpoints that nobody needs a token for. */
export function openUserRoutes({ accounts }: { accounts: Accounts }): Endpoint[] {
  return [
    openEndpoint({
      method: 'post',
      path: '/api/user/register',
      summary: 'Registers a user, as far as the policy of this instance lets them',
      description:
        'The `invitation` of an administrator lets in whatever the policy is, and proves the address; one to a group opens that group.',
      body: registerSchema,
      status: 201,
      answer: userViewSchema,
      also: {
        403: 'Registration is not open, or not to this address.',
        409: 'The address has an account, or its account was changed at the same time.',
      },
      run: async ({ body }) => userView(await accounts.register(body)),
    }),
    openEndpoint({
      method: 'post',
      path: '/api/user/login',
      summary: 'Gives a token',
      body: loginSchema,
      answer: z.object({ token: z.string() }),
      also: { 401: 'E-mail or password is wrong.' },
      run: async ({ body }) => ({ token: await accounts.login(body) }),
    }),
  ];
}

export interface UserRoutes {
  users: UserStore;
  accounts: Accounts;
  sessions: Sessions;
  apiTokens: ApiTokens;
  /** Whether browsers reach this API over TLS. */
  isHttps: boolean;
}

export function userRoutes({ users, accounts, sessions, apiTokens, isHttps }: UserRoutes): Endpoint[] {
  return [
    endpoint({
      method: 'post',
      path: '/api/user/logout',
      summary: 'Ends the token of this call, and no other',
      find: nothing,
      writes: false,
      answer: z.object({}),
      also: { 409: 'The account was changed at the same time.' },
      run: async ({ caller, request }) => {
        if (request.res && caller.credential.source === 'cookie') clearLoginCookie(request.res, isHttps);
        if (caller.apiToken === undefined) await sessions.revoke(caller.credential.token);
        else await apiTokens.remove(caller.user, caller.apiToken);
        return {};
      },
    }),
    endpoint({
      method: 'get',
      path: '/api/user/info',
      summary: 'Who the caller is',
      find: nothing,
      writes: false,
      answer: userViewSchema,
      // As it is now: the caller may have made a token at another replica.
      run: async ({ caller: { user, reach, apiToken } }) => {
        const view = userView((await users.read(user.name)) ?? user);
        // A restricted token is shown no other one.
        return reach ? { ...view, apiTokens: view.apiTokens.filter(({ Name }) => Name === apiToken) } : view;
      },
    }),
    endpoint({
      method: 'post',
      path: '/api/user/password',
      summary: 'Changes the password',
      description: 'All other logins of the user end; API tokens stay.',
      find: nothing,
      writes: true,
      isOfAccount: true,
      needsLogin: true,
      body: passwordChangeSchema,
      answer: z.object({}),
      also: {
        403: 'The current password is wrong, or asked with an API token.',
        409: 'The account has no password, or it was changed at the same time.',
      },
      run: async ({ caller, body }) => {
        await accounts.changePassword(caller.user, caller.credential.token, body);
        return {};
      },
    }),
    endpoint({
      method: 'post',
      path: '/api/user/invitation',
      summary: 'Accepts an invitation to a group, or of an administrator',
      find: nothing,
      writes: true,
      isOfAccount: true,
      needsLogin: true,
      body: acceptInvitationSchema,
      answer: userViewSchema,
      run: async ({ caller, body: { invitation } }) =>
        userView(await accounts.acceptInvitation(caller.user, invitation)),
    }),
  ];
}
