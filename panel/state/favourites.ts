import { signal } from '@preact/signals';

const key = 'coppice-favourites';

/** Ids of environments that the user has starred in this browser. */
export const favourites = signal<readonly string[]>(read());

function read(): string[] {
  try {
    const stored: unknown = JSON.parse(localStorage.getItem(key) ?? '[]');
    return Array.isArray(stored) ? stored.filter((id) => typeof id === 'string') : [];
  } catch {
    // Without storage, favourites last until the page is closed.
    return [];
  }
}

export function toggleFavourite(id: string): void {
  const { value } = favourites;
  favourites.value = value.includes(id) ? value.filter((one) => one !== id) : [...value, id];
  try {
    localStorage.setItem(key, JSON.stringify(favourites.value));
  } catch {
    // Without storage, the change lasts until the page is closed.
  }
}
