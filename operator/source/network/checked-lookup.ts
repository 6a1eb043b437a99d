import { isIP, type LookupFunction } from 'node:net';
import { names } from './name-lookup.ts';

/**
 * For `lookup` of node:http: resolves a name and has every address checked before any of them is connected to, so that
 * a name cannot lead elsewhere between check and use. `check` throws what the caller is to see.
 */
export function checkedLookup(check: (address: string) => void): LookupFunction {
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

/** An address in a URL is not looked up: it is checked by itself. */
export function checkLiteral({ hostname }: URL, check: (address: string) => void): void {
  const plain = hostname.replace(/^\[|\]$/g, '');
  if (isIP(plain) !== 0) check(plain);
}
