import type { Request } from 'express';
import { z } from 'zod';
import type { Sessions } from '../auth/sessions.ts';
import { endpoint, nothing, openEndpoint, type Endpoint } from '../http/endpoint.ts';
import type { Accounts } from './accounts.ts';
import { removedAccountSchema } from './administration-routes.ts';
import type { Administration } from './administration.ts';
import type { ApiTokens } from './api-tokens.ts';
import { isOwnOrigin } from '../auth/origin.ts';
import { Forbidden } from '../shared/errors.ts';
import { clearLoginCookie, setLoginCookie } from './login-cookie.ts';
import { invitationViewSchema, type GroupInvitations } from './group-invitations.ts';
import type { RegistrationPolicy } from './registration-policy.ts';
import {
  acceptInvitationSchema,
  loginSchema,
  passwordChangeSchema,
  registerSchema,
  removeAccountSchema,
} from './user-parameters.ts';
import type { UserStore } from '../auth/user-store.ts';
import { userView, userViewSchema } from './user-view.ts';

const loginMethodsSchema = z
  .object({
    oidc: z
      .string()
      .optional()
      .meta({ description: 'Where a browser logs in by OpenID Connect; absent if it cannot.' }),
    registration: z
      .enum(['open', 'domains', 'closed'])
      .meta({ description: 'Who can register without an invitation.' }),
  })
  .meta({ id: 'LoginMethods' });

export interface OpenUserRoutesOptions {
  accounts: Accounts;
  invitations: Pick<GroupInvitations, 'view'>;
  /** Returns the e-mail address of the login that the request has, if it has one. */
  emailOf: (request: Request) => Promise<string | undefined>;
  registration: RegistrationPolicy['mode'];
  /** Path at which a browser logs in by OpenID Connect, if it is configured. */
  oidcPath: string | undefined;
  ownOrigin: string;
}

/** Returns the routes that need no token. */
export function openUserRoutes(options: OpenUserRoutesOptions): Endpoint[] {
  const { accounts, invitations, emailOf, registration, oidcPath, ownOrigin } = options;
  return [
    openEndpoint({
      method: 'get',
      path: '/api/user/login-methods',
      summary: 'Returns how users log in and register (extension)',
      answer: loginMethodsSchema,
      run: () => ({ ...(oidcPath !== undefined && { oidc: oidcPath }), registration }),
    }),
    openEndpoint({
      method: 'post',
      path: '/api/user/register',
      summary: 'Registers a user, if the registration policy permits it',
      description:
        "An administrator's `invitation` overrides the policy and verifies the address; an invitation to a group opens that group.",
      body: registerSchema,
      status: 201,
      answer: userViewSchema,
      also: {
        403: 'Registration is closed, or closed to this address.',
        409: 'The address already has an account, or the account was changed at the same time.',
      },
      run: async ({ body }) => userView(await accounts.register(body)),
    }),
    openEndpoint({
      method: 'post',
      path: '/api/user/invitation/check',
      summary: 'Returns what an invitation is for, and changes nothing (extension)',
      description: 'A login is optional. Only one of the invited address gets the whole address and who invites.',
      body: acceptInvitationSchema,
      answer: invitationViewSchema,
      also: { 401: 'Two cookies are named like the cookie of a login.' },
      run: async ({ body: { invitation }, request }) => invitations.view(invitation, await emailOf(request)),
    }),
    openEndpoint({
      method: 'post',
      path: '/api/user/login',
      summary: 'Logs in; returns a token',
      body: loginSchema,
      answer: z.object({ token: z.string() }),
      also: {
        401: 'The e-mail address or the password is wrong.',
        403: 'A page of another origin requested a cookie.',
      },
      run: async ({ body, request, response }) => {
        // Another site's page must not log its visitor in to an account of its choice.
        if (body.cookie && !isOwnOrigin(request, ownOrigin)) {
          throw new Forbidden("a cookie is set only for a page of the API's own origin. Use the token in the response");
        }
        const token = await accounts.login(body, request.get('User-Agent'));
        if (body.cookie) setLoginCookie(response, token, ownOrigin.startsWith('https:'));
        return { token };
      },
    }),
  ];
}

export interface UserRoutesOptions {
  users: UserStore;
  accounts: Accounts;
  administration: Pick<Administration, 'removeOwn' | 'isAdministrator'>;
  sessions: Sessions;
  apiTokens: ApiTokens;
  /** Whether browsers reach this API over TLS. */
  isHttps: boolean;
  /** Whether this installation permits shells. */
  hasShell: boolean;
}

export function userRoutes(options: UserRoutesOptions): Endpoint[] {
  const { users, accounts, administration, sessions, apiTokens, isHttps, hasShell } = options;
  return [
    endpoint({
      method: 'post',
      path: '/api/user/logout',
      summary: 'Revokes the token of this request',
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
      summary: 'Returns the caller',
      find: nothing,
      writes: false,
      answer: userViewSchema,
      run: ({ caller: { user, reach, apiToken } }) => {
        // The cache has what the caller has just written at another replica; a token's account was read for this request.
        const current = apiToken === undefined ? (users.cached(user.name) ?? user) : user;
        const isAdministrator = !reach && administration.isAdministrator(current);
        const view = { ...userView(current, isAdministrator), ...(hasShell && { shell: true as const }) };
        // A restricted token does not see other tokens.
        return reach ? { ...view, apiTokens: view.apiTokens.filter(({ Name }) => Name === apiToken) } : view;
      },
    }),
    endpoint({
      method: 'post',
      path: '/api/user/password',
      summary: 'Changes the password',
      description: 'Ends all other logins of the user; API tokens stay valid.',
      find: nothing,
      writes: true,
      isOfAccount: true,
      needsLogin: true,
      body: passwordChangeSchema,
      answer: z.object({}),
      also: {
        403: 'The current password is wrong, or the request used an API token.',
        409: 'The account has no password, or it was changed at the same time.',
      },
      run: async ({ caller, body }) => {
        await accounts.changePassword(caller.user, caller.credential.token, body);
        return {};
      },
    }),
    endpoint({
      method: 'delete',
      path: '/api/user',
      summary: "Deletes the caller's own account, with its logins, tokens and memberships (extension)",
      description:
        "Takes the account's `password` or, of an account that has none, a login by OpenID Connect of the last 5 minutes.",
      find: nothing,
      writes: true,
      isOfAccount: true,
      needsLogin: true,
      body: removeAccountSchema,
      answer: removedAccountSchema,
      also: {
        403: 'The password is wrong or missing, the login is too old, or the request used an API token.',
        409: 'A group with repositories has no other owner, or the chart names the address as an administrator.',
      },
      run: async ({ caller: { user, credential }, body: { password }, request }) => {
        await accounts.confirm(user, credential.token, password);
        const groupsWithoutMembers = await administration.removeOwn(user);
        if (request.res && credential.source === 'cookie') clearLoginCookie(request.res, isHttps);
        return { email: user.email, groupsWithoutMembers };
      },
    }),
    endpoint({
      method: 'post',
      path: '/api/user/invitation',
      summary: 'Accepts an invitation to a group or from an administrator',
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
