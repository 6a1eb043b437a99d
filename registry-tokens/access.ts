import type { CredentialClaims } from './credential.ts';
import type { Scope } from './scope.ts';

/** Who requests a token: the holder of a credential, or the account of registry.credentialsSecret. */
export type Holder = { claims: CredentialClaims } | 'administrator';

/**
 * A repository name in Distribution: lower case, components of letters and digits, without `..` and empty components.
 */
const repositoryPattern = /^[a-z0-9]+(?:(?:\.|__?|-+)[a-z0-9]+)*(?:\/[a-z0-9]+(?:(?:\.|__?|-+)[a-z0-9]+)*)*$/;
/** Name of a service, which contains no separator of image names. */
const servicePattern = /^[a-z0-9]+(?:(?:__?|-+)[a-z0-9]+)*$/;
const untrusted = 'untrusted';

/**
 * Returns the granted part of the requested scopes, each with at least one action.
 * @param sharedPrefixes prefixes of image names that every credential can pull, such as `docker.io/`
 */
export function grantedAccess(holder: Holder, scopes: readonly Scope[], sharedPrefixes: readonly string[]): Scope[] {
  if (holder === 'administrator') return [...scopes];
  return scopes.flatMap((scope) => {
    const allowed = allowedActions(holder.claims, scope, sharedPrefixes);
    // `*` stands for every action that the holder has.
    const actions = scope.actions.includes('*') ? allowed : scope.actions.filter((action) => allowed.includes(action));
    return actions.length === 0 ? [] : [{ ...scope, actions }];
  });
}

function allowedActions(
  { actions, prefix }: CredentialClaims,
  { type, name }: Scope,
  shared: readonly string[],
): string[] {
  if (type !== 'repository' || !repositoryPattern.test(name)) return [];
  const ofRepository = name.startsWith(prefix) ? name.slice(prefix.length) : undefined;
  if (ofRepository !== undefined) {
    if (servicePattern.test(ofRepository)) return actions === 'push' ? ['pull', 'push'] : ['pull'];
    if (actions === 'pull' && isUntrusted(ofRepository, prefix)) return ['pull'];
  }
  return shared.some((one) => name.startsWith(one)) ? ['pull'] : [];
}

/** Returns whether a name below a repository's prefix is that of an image that an untrusted build pushed. */
function isUntrusted(name: string, prefix: string): boolean {
  const separator = prefix.slice(-1);
  const below = `${untrusted}${separator}`;
  return name.startsWith(below) && servicePattern.test(name.slice(below.length));
}
