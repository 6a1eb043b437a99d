/** One resource that a client requests access to (CNCF Distribution, token scope documentation). */
export interface Scope {
  type: string;
  name: string;
  actions: string[];
}

const maxScopes = 32;
const maxLength = 4096;
/** The name can contain colons, as `host:port/path` does. */
const pattern =
  /^([a-z0-9]+)(?:\([a-z0-9]+\))?:([A-Za-z0-9][A-Za-z0-9._:/-]{0,254}):([a-z*]{1,16}(?:,[a-z*]{1,16}){0,7})$/;

/**
 * Parses the `scope` parameters of a request: each contains scopes `TYPE:NAME:ACTION[,ACTION…]`, separated by spaces.
 * Ignores invalid scopes, as the specification ignores scopes that are not granted. Returns undefined for more than 32
 * scopes.
 */
export function readScopes(parameters: readonly string[]): Scope[] | undefined {
  const text = parameters.join(' ');
  if (text.length > maxLength) return undefined;
  const words = text.split(' ').filter((word) => word !== '');
  if (words.length > maxScopes) return undefined;
  return words.flatMap((word) => {
    const [, type = '', name = '', actions = ''] = pattern.exec(word) ?? [];
    return type === '' ? [] : [{ type, name, actions: [...new Set(actions.split(','))] }];
  });
}
