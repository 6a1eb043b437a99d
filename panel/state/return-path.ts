import { localReturn } from '../api/paths.ts';

const key = 'coppice-return';

/** Remembers where to return to from a login at another site, in this tab alone. */
export function keepReturn(path: string): void {
  try {
    sessionStorage.setItem(key, path);
  } catch {
    // The user then lands on the overview.
  }
}

/** Returns where to return to, once. */
export function takeReturn(): string | undefined {
  try {
    const path = sessionStorage.getItem(key);
    sessionStorage.removeItem(key);
    return path === null ? undefined : localReturn(path);
  } catch {
    return undefined;
  }
}
