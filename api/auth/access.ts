import { z } from 'zod';
import { Forbidden } from '../http/errors.ts';
import type { Caller } from './caller.ts';

/** What a token may do, each with all that the ones before it may. */
export const ACCESS = ['read', 'operate', 'administer'] as const;
export type Access = (typeof ACCESS)[number];

/** Each token's names are a part of the user's Secret, which every change of a token writes whole. */
const maxNames = 10;
const names = z.array(z.string().min(1).max(200)).min(1).max(maxNames);

/** What a token is restricted to. What is absent restricts nothing, but that a list restricts to what is listed. */
export const tokenScopesSchema = z.object({
  access: z.enum(ACCESS).optional(),
  groups: names.optional(),
  repositories: names.optional(),
});
export type TokenScopes = z.infer<typeof tokenScopesSchema>;

/** The groups, with all that is in them, and the repositories, with their environments, that a token reaches. */
export interface Reach {
  groups: readonly string[];
  repositories: readonly string[];
}

/** @returns undefined for a token that reaches what its owner reaches. */
export function reachOf(scopes: TokenScopes | undefined): Reach | undefined {
  if (!scopes?.groups && !scopes?.repositories) return undefined;
  return { groups: scopes.groups ?? [], repositories: scopes.repositories ?? [] };
}

export function reachesGroup(reach: Reach | undefined, group: string): boolean {
  return reach === undefined || reach.groups.includes(group);
}

/** @param repository its id, `acme.shop` */
export function reachesRepository(reach: Reach | undefined, group: string, repository: string): boolean {
  return reachesGroup(reach, group) || reach?.repositories.includes(repository) === true;
}

export function mayDo(access: Access, needed: Access): boolean {
  return ACCESS.indexOf(access) >= ACCESS.indexOf(needed);
}

/** Values of variables: what they are for is to be used by builds and services, not to be read by whoever looks on. */
export function mayReadValues({ access }: { access: Access }): boolean {
  return mayDo(access, 'operate');
}

/** What a request needs of the caller beside that they see what it names. */
export interface Needs {
  access: Access;
  /** It concerns the whole account, or the installation: a token that is restricted to groups or repositories may not. */
  isOfAccount: boolean;
  /** An API token may not: what it makes lasts longer than a token must. */
  login: boolean;
}

/** Why a caller may not do what needs this; undefined where they may. */
export function refusalOf(
  { access, reach, apiToken }: Pick<Caller, 'access' | 'reach' | 'apiToken'>,
  needs: Needs,
): string | undefined {
  if (!mayDo(access, needs.access)) {
    if (access === 'read') return 'a read-only token may not change anything';
    return `this request needs the access ${needs.access}, and the token has ${access}: use another token`;
  }
  if (needs.login && apiToken !== undefined) return 'an API token may not do this: log in';
  if (needs.isOfAccount && reach) {
    return 'this request concerns the whole account, and the token is restricted to groups or repositories: use another token';
  }
  return undefined;
}

/** @throws Forbidden */
export function requireAccess(caller: Pick<Caller, 'access' | 'reach' | 'apiToken'>, needs: Needs): void {
  const refusal = refusalOf(caller, needs);
  if (refusal !== undefined) throw new Forbidden(refusal);
}
