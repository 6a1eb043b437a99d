import type { CookieOptions, RequestHandler, Response } from 'express';
import { z } from 'zod';
import { HOST_LOGIN_COOKIE, LOGIN_COOKIE, onlyCookie } from '../../auth/credential.ts';
import type { Endpoint } from '../../http/endpoint.ts';
import { Unauthorized } from '../../shared/errors.ts';
import { parse } from '../../http/parse.ts';
import type { Accounts } from '../accounts.ts';
import { setLoginCookie } from '../login-cookie.ts';
import { LOGIN_MS, type LoginStates } from './login-states.ts';
import type { OidcAccounts } from './oidc-accounts.ts';
import type { Provider } from './provider.ts';

export const OIDC_LOGIN_PATH = '/api/user/oidc/login';
export const CALLBACK_PATH = '/api/user/oidc/callback';
/** Cookies that bind a login to the browser that started it, so that no other browser completes it. */
const browserCookies = {
  http: { name: 'oidc-login', path: '/api/user/oidc' },
  // No other host can set a cookie with this prefix; the prefix requires the path `/`.
  https: { name: '__Host-oidc-login', path: '/' },
};
const browserCookieOptions: CookieOptions = { httpOnly: true, secure: true, sameSite: 'lax' };

const callbackSchema = z.looseObject({ state: z.string() });

export interface OidcRoutesOptions {
  provider: Provider;
  states: LoginStates;
  oidcAccounts: OidcAccounts;
  accounts: Accounts;
  landingPage: string;
  /** Whether browsers reach this API over TLS. */
  isHttps: boolean;
  /** Limits requests before authentication. */
  limit: RequestHandler;
}

/** Returns the routes (an extension) to log in at an OpenID Connect provider with a browser. */
export function oidcRoutes(options: OidcRoutesOptions): Endpoint[] {
  const { provider, states, oidcAccounts, accounts, landingPage, limit, isHttps } = options;
  const { name: browserCookie, path } = browserCookies[isHttps ? 'https' : 'http'];
  const cookieOptions = { ...browserCookieOptions, path };

  const login: RequestHandler = async (_request, response) => {
    const { state, browser, secrets } = await states.start();
    const url = await provider.authorizationUrl(state, secrets);
    response.cookie(browserCookie, browser, { ...cookieOptions, maxAge: LOGIN_MS });
    redirect(response, url.href);
  };

  const callback: RequestHandler = async (request, response) => {
    response.clearCookie(browserCookie, cookieOptions);
    const { state } = parse(callbackSchema, request.query, 'the query');
    const secrets = await states.take(state, onlyCookie(request.headers.cookie, browserCookie) ?? '');
    if (!secrets)
      throw new Unauthorized(
        `this login has ended, or was started in another browser. Start again: ${OIDC_LOGIN_PATH}`,
      );
    const query = request.originalUrl.slice(request.originalUrl.indexOf('?'));
    const user = await oidcAccounts.userFor(await provider.claims(query, state, secrets));
    const token = await accounts.startSession(user, request.get('User-Agent'));
    if (token === undefined)
      throw new Unauthorized(`the account was changed at the same time. Start again: ${OIDC_LOGIN_PATH}`);
    setLoginCookie(response, token, isHttps);
    redirect(response, landingPage);
  };

  const common = { method: 'get', isOpen: true, writes: false, status: 303, answer: z.never() } as const;
  return [
    {
      ...common,
      path: OIDC_LOGIN_PATH,
      summary: 'Redirects a browser to log in at the OpenID Connect provider (extension)',
      handle: [limit, login],
    },
    {
      ...common,
      path: CALLBACK_PATH,
      summary: 'Callback of the OpenID Connect provider (extension)',
      description: `Sets the cookie \`${LOGIN_COOKIE}\` and, over https, also \`${HOST_LOGIN_COOKIE}\`.`,
      query: callbackSchema,
      also: {
        401: 'The provider refused, or its response does not belong to a login that this browser started.',
        403: 'The provider has not verified the address, or registration is closed to it.',
        409: "The address belongs to another person's account, or its account was changed at the same time.",
      },
      handle: [limit, callback],
    },
  ];
}

function redirect(response: Response, to: string): void {
  response.redirect(303, to);
}
