import { tokenHash, type RandomBytes } from '../shared/tokens.ts';
import { Conflict, invalid, NotFound } from '../shared/errors.ts';
import { newApiToken, type ApiToken } from '../user-records/api-token.ts';
import type { NewApiToken } from './user-parameters.ts';
import type { User } from '../user-records/user-record.ts';
import type { UserStore } from '../auth/user-store.ts';

const maxTokens = 50;

export interface ApiTokenOptions {
  users: Pick<UserStore, 'update'>;
  now: () => number;
  randomBytes: RandomBytes;
}

/** Manages a user's API tokens, stored as hashes in the user's Secret, so that they survive the loss of Redis. */
export class ApiTokens {
  readonly #options: ApiTokenOptions;

  constructor(options: ApiTokenOptions) {
    this.#options = options;
  }

  /**
   * Creates an API token.
   * @returns the token, which cannot be read again, and its stored form
   * @throws Conflict when the user has one of this name, or too many; Invalid when its end has passed, or `readOnly`
   * contradicts `scopes`
   */
  async create(
    user: User,
    { name, expirationTime, readOnly, scopes }: NewApiToken,
  ): Promise<{ token: string; kept: ApiToken }> {
    const { users, now, randomBytes } = this.#options;
    if (expirationTime.getTime() <= now()) {
      const details = [{ path: 'expirationTime', message: 'must be in the future' }];
      throw invalid('the body', details);
    }
    if (readOnly && scopes?.access !== undefined && scopes.access !== 'read') {
      const details = [{ path: 'scopes.access', message: 'must be read, or absent, where readOnly is true' }];
      throw invalid('the body', details);
    }
    const token = newApiToken(user.name, randomBytes);
    const kept: ApiToken = {
      name,
      hash: tokenHash(token),
      expiresOn: expirationTime.toISOString(),
      readOnly: readOnly || scopes?.access === 'read',
      ...(scopes && { scopes }),
    };
    await users.update(user, (current) => {
      const tokens = current.apiTokens ?? [];
      if (tokens.some((other) => other.name === name))
        throw new Conflict('an API token of this name already exists. Choose another name, or delete that token');
      if (tokens.length >= maxTokens) throw new Conflict(`a user has at most ${maxTokens} API tokens. Delete one`);
      return { ...current, apiTokens: [...tokens, kept] };
    });
    return { token, kept };
  }

  /** Deletes an API token; afterwards no replica accepts it. @returns the remaining tokens @throws NotFound */
  async remove(user: User, name: string): Promise<readonly ApiToken[]> {
    const { apiTokens = [] } = await this.#options.users.update(user, (current) => {
      const tokens = current.apiTokens ?? [];
      const left = tokens.filter((token) => token.name !== name);
      if (left.length === tokens.length)
        throw new NotFound('you have no API token of this name. GET /api/user/info lists yours');
      return { ...current, apiTokens: left };
    });
    return apiTokens;
  }
}
