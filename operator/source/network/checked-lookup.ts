import { isIP, type LookupFunction } from 'node:net';
import { names as ownNames, type NameLookup } from './name-lookup.ts';

export type Names = Pick<NameLookup, 'find'>;

/**
 * Returns a `lookup` for node:http that resolves a name and checks every address before a connection, so that DNS
 * rebinding between check and use is not possible. `check` throws the error for the caller.
 */
export function checkedLookup(check: (address: string) => void, names: Names = ownNames): LookupFunction {
  return (hostname, options, callback) => {
    names.find(hostname).then(
      (found) => {
        try {
          for (const { address } of found) check(address);
        } catch (error) {
          callback(error as Error, '');
          return;
        }
        const [first] = found;
        if (options.all) callback(null, found);
        else callback(null, first?.address ?? '', first?.family);
      },
      (error: unknown) => callback(error as NodeJS.ErrnoException, ''),
    );
  };
}

/** Checks the address in a URL, which Node does not look up. */
export function checkLiteral({ hostname }: URL, check: (address: string) => void): void {
  const plain = hostname.replace(/^\[|\]$/g, '');
  if (isIP(plain) !== 0) check(plain);
}
