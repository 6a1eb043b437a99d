import { z } from 'zod';
import { integerField, booleanField } from '../../http/parse.ts';
import { endpoint, nothing, openEndpoint, type Endpoint } from '../../http/endpoint.ts';
import { Unauthorized } from '../../shared/errors.ts';
import type { Caller } from '../../auth/caller.ts';
import type { Sessions } from '../../auth/sessions.ts';
import type { UserStore } from '../../auth/user-store.ts';
import type { Accounts } from '../accounts.ts';
import type { Attempts } from '../attempts.ts';
import { accountOf, DEVICE_MS, typedCode, type GrantedAccount, type Grants } from './grants.ts';

/** Page of the panel where a user types the code of a device. */
const devicePage = '/sign-in/device';
const intervalSeconds = 5;

const userCodeField = z
  .string()
  .max(40)
  .transform(typedCode)
  .meta({ description: 'As the device shows it; case, spaces and dashes are ignored.' });
const secretField = z.string().max(200);
/** 32 bytes in base64url (RFC 7636, 4.2). */
const challengeField = z.string().regex(/^[A-Za-z0-9_-]{43}$/, { error: 'must be a SHA-256 in base64url' });
const verifierField = z.string().regex(/^[A-Za-z0-9._~-]{43,128}$/, { error: 'must be a code verifier of RFC 7636' });

const deviceViewSchema = z
  .object({
    deviceCode: z.string().meta({ description: 'Secret of the device.' }),
    userCode: z.string().meta({ description: 'What the user types: `BCDF-GHJK`.' }),
    verificationUri: z.string().meta({ description: 'Where the user types it, signed in.' }),
    expiresIn: z.int().meta({ description: 'In seconds.' }),
    interval: z.int().meta({ description: 'Seconds between two requests for the decision.' }),
  })
  .meta({ id: 'DeviceSignIn' });
export type DeviceSignIn = z.infer<typeof deviceViewSchema>;

const decisionSchema = z
  .object({ status: z.enum(['pending', 'denied', 'approved']), token: z.string().optional() })
  .meta({ id: 'DeviceDecision', description: '`token` is returned once, with `approved`.' });
export type DeviceDecision = z.infer<typeof decisionSchema>;

export interface SignInRoutesOptions {
  grants: Grants;
  accounts: Pick<Accounts, 'startSession'>;
  users: Pick<UserStore, 'read'>;
  sessions: Pick<Sessions, 'nameOf' | 'isValid'>;
  attempts: Pick<Attempts, 'countCodes'>;
  ownOrigin: string;
}

/** Returns the routes (extensions) through which a program gets a login that its user approves in the panel. */
export function signInRoutes(options: SignInRoutesOptions): Endpoint[] {
  const { grants, accounts, users, sessions, attempts, ownOrigin } = options;
  /**
   * Starts a session of the program `client`, unless the account or its password has changed since the approval, or the
   * login that approved has ended: whoever ends a stolen login must not leave another one behind.
   */
  const sessionOf = async (granted: GrantedAccount, client: string | undefined): Promise<string> => {
    const user = await users.read(granted.userName);
    const now = user && accountOf(user);
    const isSame = now?.accountId === granted.accountId && now.password === granted.password;
    const isApproved = isSame && (await sessions.isValid(granted.session));
    const token = isApproved && user ? await accounts.startSession(user, client) : undefined;
    if (token === undefined)
      throw new Unauthorized('the account has changed, or its login has ended, since the approval. Sign in again');
    return token;
  };
  const approvalOf = ({ user, credential }: Caller) => ({ user, session: sessions.nameOf(credential.token) });
  return [
    openEndpoint({
      method: 'post',
      path: '/api/user/device',
      summary: 'Starts the sign-in of a device without a browser (extension; RFC 8628)',
      description:
        'The user types `userCode` in the panel. There is no address that contains it: a link from a stranger must not be enough.',
      answer: deviceViewSchema,
      run: async ({ request }) => {
        const { deviceCode, userCode } = await grants.startDevice(request.ip ?? 'unknown');
        return {
          deviceCode,
          userCode: `${userCode.slice(0, 4)}-${userCode.slice(4)}`,
          verificationUri: `${ownOrigin}${devicePage}`,
          expiresIn: DEVICE_MS / 1000,
          interval: intervalSeconds,
        };
      },
    }),
    openEndpoint({
      method: 'post',
      path: '/api/user/device/token',
      summary: 'Returns the decision about a device, and its token (extension; RFC 8628)',
      body: z.object({ deviceCode: secretField }),
      answer: decisionSchema,
      also: {
        401: 'The account has changed, or its login has ended, since the approval.',
        404: 'The code has expired or was used.',
      },
      run: async ({ body, request }) => {
        const decision = await grants.pollDevice(body.deviceCode);
        if (typeof decision === 'string') return { status: decision };
        return { status: 'approved' as const, token: await sessionOf(decision, request.get('User-Agent')) };
      },
    }),
    openEndpoint({
      method: 'post',
      path: '/api/user/authorizations/token',
      summary: 'Exchanges the code of a redirect for a token (extension; RFC 7636, RFC 8252)',
      body: z.object({ code: secretField, verifier: verifierField }),
      answer: z.object({ token: z.string() }),
      also: {
        401: 'The account has changed, or its login has ended, since the approval.',
        404: 'The code has expired, was used, or belongs to another program.',
      },
      run: async ({ body, request }) => {
        const granted = await grants.redeemCode(body.code, body.verifier);
        return { token: await sessionOf(granted, request.get('User-Agent')) };
      },
    }),
    endpoint({
      method: 'post',
      path: '/api/user/device/check',
      summary: 'Returns the device that waits with a code (extension)',
      find: nothing,
      writes: true,
      isOfAccount: true,
      needsLogin: true,
      body: z.object({ userCode: userCodeField }),
      answer: z.object({
        address: z.string().meta({ description: 'Network address from which the device signs in.' }),
        startedAt: z.int().meta({ description: 'In Unix seconds.' }),
        isOwnAddress: z.boolean().meta({ description: 'Whether the request has the same network address.' }),
      }),
      run: async ({ caller, body, request }) => {
        await attempts.countCodes(caller.user.accountId);
        const { address, startedAt } = await grants.pendingDevice(body.userCode);
        return { address, startedAt: Math.floor(startedAt / 1000), isOwnAddress: request.ip === address };
      },
    }),
    endpoint({
      method: 'post',
      path: '/api/user/device/decision',
      summary: 'Approves or denies the sign-in of a device (extension)',
      find: nothing,
      writes: true,
      isOfAccount: true,
      needsLogin: true,
      body: z.object({ userCode: userCodeField, approve: booleanField }),
      answer: z.object({}),
      run: async ({ caller, body }) => {
        await attempts.countCodes(caller.user.accountId);
        await grants.decideDevice(body.userCode, body.approve ? approvalOf(caller) : undefined);
        return {};
      },
    }),
    endpoint({
      method: 'post',
      path: '/api/user/authorizations',
      summary: "Approves the sign-in of a program on the user's own computer (extension; RFC 8252)",
      description: 'The redirect leads to 127.0.0.1 only.',
      find: nothing,
      writes: true,
      isOfAccount: true,
      needsLogin: true,
      body: z.object({
        port: integerField(1024, 65_535),
        challenge: challengeField.meta({ description: 'SHA-256 of the code verifier, in base64url.' }),
        state: z.string().regex(/^[A-Za-z0-9_-]{16,128}$/, { error: 'must be 16 to 128 characters of base64url' }),
      }),
      answer: z.object({ redirect: z.string() }),
      run: async ({ caller, body: { port, challenge, state } }) => {
        const code = await grants.issueCode(approvalOf(caller), challenge);
        return { redirect: `http://127.0.0.1:${port}/callback?${new URLSearchParams({ code, state }).toString()}` };
      },
    }),
  ];
}
