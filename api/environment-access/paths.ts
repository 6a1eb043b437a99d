import type { AccessMode } from '../../crds/access.ts';
import { GATE_PATH } from '../../environment-access/paths.ts';

/** Page of the panel where visitors log in, or enter the password. */
export const SIGN_IN_PATH = '/access';

const maxPath = 2000;

/** Where a visitor comes from and returns to. */
export interface Visit {
  host: string;
  path: string;
  challenge: string;
}

/** Returns whether a visitor can be sent to this path: it stays on the host, and is not the gate itself. */
export function isReturnPath(path: string): boolean {
  if (path.length > maxPath || !/^\/(?![/\\])[\x21-\x7e]*$/.test(path)) return false;
  return URL.parse(path, 'http://environment')?.pathname !== GATE_PATH;
}

export function returnPath(uri: string): string {
  return isReturnPath(uri) ? uri : '/';
}

/** Returns the page of the panel for a visit. `mode` only decides what the page shows first. */
export function signInUrl(ownOrigin: string, { host, path, challenge }: Visit, mode: AccessMode): string {
  return `${ownOrigin}${SIGN_IN_PATH}?${new URLSearchParams({ host, path, challenge, mode }).toString()}`;
}

/** Returns the path on the environment's host that a code or a token is exchanged at. */
export function entryPath(parameters: Record<string, string>): string {
  return `${GATE_PATH}?${new URLSearchParams(parameters).toString()}`;
}
