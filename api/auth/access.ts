import { Forbidden } from '../shared/errors.ts';
import type { Caller } from './caller.ts';
import { ACCESS, type Access, type Reach, type TokenScopes } from '../user-records/token-scopes.ts';

/** Returns what a token's scopes restrict it to; undefined for a token without restrictions. */
export function reachOf(scopes: TokenScopes | undefined): Reach | undefined {
  if (!scopes?.groups && !scopes?.repositories) return undefined;
  return { groups: scopes.groups ?? [], repositories: scopes.repositories ?? [] };
}

export function reachesGroup(reach: Reach | undefined, group: string): boolean {
  return reach === undefined || reach.groups.includes(group);
}

/** Returns whether the token can access this repository. @param repository its id, `acme.shop` */
export function reachesRepository(reach: Reach | undefined, group: string, repository: string): boolean {
  return reachesGroup(reach, group) || reach?.repositories.includes(repository) === true;
}

export function permits(access: Access, needed: Access): boolean {
  return ACCESS.indexOf(access) >= ACCESS.indexOf(needed);
}

/** Returns whether a token permits reading the values of variables, which are meant for builds and services. */
export function canReadValues({ access }: { access: Access }): boolean {
  return permits(access, 'operate');
}

/** Permissions that a request needs, in addition to seeing what it names. */
export interface Needs {
  access: Access;
  /**
   * The request concerns the whole account or the installation, which tokens restricted to groups or repositories do
   * not permit.
   */
  isOfAccount: boolean;
  /** The request needs a login: what it creates can outlive an API token. */
  login: boolean;
}

/** Returns why a caller lacks these permissions; undefined if they have them. */
export function refusalOf(
  { access, reach, apiToken }: Pick<Caller, 'access' | 'reach' | 'apiToken'>,
  needs: Needs,
): string | undefined {
  if (!permits(access, needs.access)) {
    if (access === 'read') return 'a read-only token cannot change anything. Use another token';
    return `this request needs the access ${needs.access}, and the token has ${access}. Use another token`;
  }
  if (needs.login && apiToken !== undefined)
    return 'an API token cannot do this. Log in, and send the token of that login';
  if (needs.isOfAccount && reach) {
    return 'this request concerns the whole account, and the token is restricted to groups or repositories. Use another token';
  }
  return undefined;
}

/** Checks that the caller has these permissions. @throws Forbidden */
export function requireAccess(caller: Pick<Caller, 'access' | 'reach' | 'apiToken'>, needs: Needs): void {
  const refusal = refusalOf(caller, needs);
  if (refusal !== undefined) throw new Forbidden(refusal);
}
