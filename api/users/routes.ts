import type { Express } from 'express';
import type { Passwords } from '../auth/passwords.ts';
import type { Sessions } from '../auth/sessions.ts';
import type { RandomBytes } from '../auth/tokens.ts';
import type { GroupService } from '../groups/group-service.ts';
import { endpoint, nothing, parseBody, send } from '../http/endpoint.ts';
import { Unauthorized } from '../http/errors.ts';
import { requireAllowed, requireOpen, type RegistrationPolicy } from './registration-policy.ts';
import { loginSchema, registerSchema } from './user-parameters.ts';
import type { User } from './user-record.ts';
import type { UserStore } from './user-store.ts';

/** Contract section 2, user. There are no API tokens yet, so the list is empty. */
interface UserView {
  email: string;
  apiTokens: never[];
}

function userView({ email }: User): UserView {
  return { email, apiTokens: [] };
}

export interface UserRoutes {
  users: UserStore;
  groups: Pick<GroupService, 'createOwn'>;
  sessions: Sessions;
  passwords: Passwords;
  policy: RegistrationPolicy;
  randomBytes: RandomBytes;
}

/** Register and login: the two endpoints that nobody needs a token for. */
export function openUserRoutes(app: Express, dependencies: UserRoutes): void {
  const { users, groups, sessions, passwords, policy, randomBytes } = dependencies;

  app.post('/api/user/register', async (request, response) => {
    requireOpen(policy);
    const { email, password } = await parseBody(request, response, registerSchema);
    requireAllowed(policy, email);
    const passwordHash = await passwords.hash(password);
    const accountId = randomBytes(16).toString('hex');
    const user = await users.create({ accountId, email, passwordHash, verified: policy.provesAddress });
    await groups.createOwn(user);
    send(response, { status: 201, body: userView(user) });
  });

  app.post('/api/user/login', async (request, response) => {
    const { email, password } = await parseBody(request, response, loginSchema);
    const user = await users.readByEmail(email);
    const isRight = await passwords.verify(password, user?.passwordHash);
    if (!user || !isRight) throw new Unauthorized('e-mail or password is wrong');
    const token = await sessions.create({ userName: user.name, accountId: user.accountId });
    send(response, { status: 200, body: { token } });
  });
}

export function userRoutes(app: Express, { sessions }: Pick<UserRoutes, 'sessions'>): void {
  app.post(
    '/api/user/logout',
    endpoint({
      find: nothing,
      writes: false,
      run: async ({ caller }) => {
        await sessions.revoke(caller.credential.token);
        return { status: 200, body: {} };
      },
    }),
  );

  app.get(
    '/api/user/info',
    endpoint({ find: nothing, writes: false, run: ({ caller }) => ({ status: 200, body: userView(caller.user) }) }),
  );
}
