import type { Logger } from 'pino';
import type { Environment } from '../../crds/environment.ts';
import { environmentNamespace } from '../../crds/environment-address.ts';
import { keyOf } from '../../kubernetes/resource-type.ts';
import { CLOSE } from '../../shell-protocol/frames.ts';
import type { Authenticator } from '../auth/authenticate.ts';
import type { Caller } from '../auth/caller.ts';
import type { Directory, EnvironmentTarget } from '../auth/visibility.ts';
import type { Caches } from '../cluster/caches.ts';
import { isAsleep, isWakeRequested } from '../environments/contents.ts';
import { NotFound } from '../shared/errors.ts';
import { refusalOf, type ShellSettings } from './admission.ts';
import type { Session } from './session.ts';

export interface OpenSessionsOptions {
  caches: Pick<Caches, 'groups' | 'environments' | 'users'>;
  directory: Pick<Directory, 'environment'>;
  authenticator: Pick<Authenticator, 'stillValid'>;
  settings: ShellSettings;
  /** Requests that the services keep running. */
  keepAwake: (environment: Environment) => Promise<unknown>;
  /** Interval of the checks of logins, which no watch reports. Default 30 s. */
  checkMs?: number | undefined;
  logger: Pick<Logger, 'warn'>;
}

/** An open session, and what permits it. */
export interface OpenSession {
  session: Pick<Session, 'close' | 'closed'>;
  caller: Caller;
  environmentID: string;
  target: EnvironmentTarget;
}

interface Ending {
  code: number;
  reason: string;
}

const unauthorized: Ending = {
  code: CLOSE.unauthorized,
  reason: 'the token is no longer valid, or no longer permits this. Log in again',
};
const gone: Ending = { code: CLOSE.gone, reason: 'the contents of the environment were deleted' };

/** Closes sessions as soon as their caller or their environment no longer permits them. */
export class OpenSessions {
  readonly #options: OpenSessionsOptions;
  readonly #open = new Map<string, Set<OpenSession>>();

  constructor(options: OpenSessionsOptions) {
    this.#options = options;
    const { groups, environments, users } = options.caches;
    groups.addHandler((_type, { metadata: { name } }) => this.#check(`group ${name}`));
    environments.addHandler((_type, environment) => {
      this.#check(`environment ${keyOf(environment)}`);
      this.#keepAwake(environment);
    });
    users.addHandler((_type, { metadata: { name } }) => {
      for (const open of this.#of(`user ${name}`)) void this.#checkToken(open);
    });
  }

  /**
   * Watches a session until it is closed. Closes it at once, and returns false, if what permitted it has ended since it
   * was checked.
   */
  add(open: OpenSession): boolean {
    const { caller, target, session, environmentID } = open;
    const ending = this.#endingOf(caller, environmentID, target);
    if (ending) {
      session.close(ending.code, ending.reason);
      return false;
    }
    const keys = [
      `group ${target.group.metadata.name}`,
      `environment ${keyOf(target.environment)}`,
      `user ${caller.user.name}`,
    ];
    for (const key of keys) this.#open.set(key, this.#of(key).add(open));
    const timer = setInterval(() => void this.#checkToken(open), this.#options.checkMs ?? 30_000);
    const remove = () => {
      clearInterval(timer);
      for (const key of keys) {
        const left = this.#of(key);
        left.delete(open);
        if (left.size === 0) this.#open.delete(key);
      }
    };
    session.closed.addEventListener('abort', remove, { once: true });
    if (session.closed.aborted) remove();
    const current = this.#options.caches.environments.get(keyOf(target.environment));
    if (current) this.#keepAwake(current);
    void this.#checkToken(open);
    return true;
  }

  /** A session counts as a visit. The operator watches for visits only some minutes after the last one. */
  #keepAwake(environment: Environment): void {
    const { keepAwake, logger } = this.#options;
    const { asleep, watchedSince } = environment.status?.sleep ?? {};
    if (asleep === true || watchedSince === undefined || isAsleep(environment)) return;
    if (this.#of(`environment ${keyOf(environment)}`).size === 0 || isWakeRequested(environment)) return;
    keepAwake(environment).catch((error: unknown) => {
      logger.warn({ err: error, environment: keyOf(environment) }, 'an environment with a session may fall asleep');
    });
  }

  #of(key: string): Set<OpenSession> {
    return this.#open.get(key) ?? new Set();
  }

  #check(key: string): void {
    for (const { session, caller, environmentID, target } of this.#of(key)) {
      const ending = this.#endingOf(caller, environmentID, target);
      if (ending) session.close(ending.code, ending.reason);
    }
  }

  #endingOf(caller: Caller, environmentID: string, target: EnvironmentTarget): Ending | undefined {
    const { directory, caches, settings } = this.#options;
    try {
      const { environment } = directory.environment(caller, environmentID);
      const isSame = environment.status?.namespaceUID === target.environment.status?.namespaceUID;
      if (environment.metadata.uid !== target.environment.metadata.uid || !isSame) return gone;
      const refusal = refusalOf(environment, settings);
      if (!refusal) return undefined;
      if (refusal.status === 409) return gone;
      return { code: CLOSE.unauthorized, reason: 'the code of the environment is no longer trusted' };
    } catch (error) {
      if (!(error instanceof NotFound)) throw error;
      return caches.environments.get(keyOf(target.environment)) ? unauthorized : gone;
    }
  }

  async #checkToken({ session, caller }: OpenSession): Promise<void> {
    const { authenticator, logger } = this.#options;
    try {
      if (!(await authenticator.stillValid(caller.credential))) session.close(unauthorized.code, unauthorized.reason);
    } catch (error) {
      logger.warn({ err: error }, 'the permission of a shell session cannot be checked');
    }
  }
}

/** Returns the namespace with the contents of an environment that was found. */
export function namespaceOf({ group, environment }: EnvironmentTarget): string {
  return environmentNamespace({ group: group.metadata.name, name: environment.metadata.name });
}
