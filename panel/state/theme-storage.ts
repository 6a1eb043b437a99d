export type Theme = 'system' | 'light' | 'dark';

const key = 'coppice-theme';

/** Returns the theme chosen in this browser; `system` if none is, or if storage is not available. */
export function readTheme(): Theme {
  try {
    const stored = localStorage.getItem(key);
    return stored === 'light' || stored === 'dark' ? stored : 'system';
  } catch {
    // Browsers can forbid storage; the system's theme then applies.
    return 'system';
  }
}

export function writeTheme(theme: Theme): void {
  try {
    if (theme === 'system') localStorage.removeItem(key);
    else localStorage.setItem(key, theme);
  } catch {
    // Without storage, the choice lasts until the page is closed.
  }
}
