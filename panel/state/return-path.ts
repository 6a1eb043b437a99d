import { localReturn } from '../api/paths.ts';

const key = 'coppice-return';

/** Stores the page to return to after a login at another site; for this tab only. */
export function keepReturn(path: string): void {
  try {
    sessionStorage.setItem(key, path);
  } catch {
    // Without storage, the user returns to the overview.
  }
}

/** Returns the stored page and deletes it. */
export function takeReturn(): string | undefined {
  try {
    const path = sessionStorage.getItem(key);
    sessionStorage.removeItem(key);
    return path === null ? undefined : localReturn(path);
  } catch {
    return undefined;
  }
}
