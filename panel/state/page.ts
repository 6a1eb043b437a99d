import { useEffect, useReducer } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import type { ShownState } from '../view/shown-state.ts';
import { titleMark } from '../view/shown-state.ts';
import built from '../icons/built.svg';
import building from '../icons/building.svg';
import created from '../icons/created.svg';
import empty from '../icons/empty.svg';
import failed from '../icons/failed.svg';
import degraded from '../icons/degraded.svg';
import asleep from '../icons/asleep.svg';
import deleting from '../icons/deleting.svg';
import plain from '../icons/icon.svg';

const icons: Record<ShownState, string> = { built, building, created, empty, failed, degraded, asleep, deleting };

/** Sets the title and the icon of the browser's tab: `● acme/shop main`. */
export function useTitle(title: string, state?: ShownState): void {
  useEffect(() => {
    document.title = `${state ? `${titleMark(state)} ${state} · ` : ''}${title} · Coppice`;
    const icon = document.querySelector<HTMLLinkElement>('link[rel="icon"]');
    const file = state ? icons[state] : plain;
    if (icon) icon.href = `/assets/${file.replace(/^.*\//, '')}`;
  }, [title, state]);
}

/** Returns the fragment of the address, also after it has changed without a navigation. */
export function useHash(): string {
  const [, render] = useReducer<number, unknown>((count) => count + 1, 0);
  useLocation();
  useEffect(() => {
    addEventListener('hashchange', render);
    return () => removeEventListener('hashchange', render);
  }, []);
  return location.hash;
}

/** Reads and writes the query of the address, in which pages keep their filters. */
export function useQuery(): {
  query: Readonly<Record<string, string>>;
  setQuery: (changes: Record<string, string | undefined>, mode?: 'replace' | 'push') => void;
  hrefWith: (changes: Record<string, string | undefined>) => string;
} {
  const { query, path, route } = useLocation();
  const hrefAt = (at: string, changes: Record<string, string | undefined>) => {
    const parameters = new URLSearchParams(location.search);
    for (const [name, value] of Object.entries(changes)) {
      if (value === undefined || value === '') parameters.delete(name);
      else parameters.set(name, value);
    }
    const text = parameters.toString();
    return text === '' ? at : `${at}?${text}`;
  };
  return {
    query,
    hrefWith: (changes) => hrefAt(path, changes),
    // The page of the last render may have been left, for example by the action that closes its dialog.
    setQuery: (changes, mode = 'replace') => route(hrefAt(location.pathname, changes), mode === 'replace'),
  };
}
