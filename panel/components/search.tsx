import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { useEffect, useId } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import { send } from '../api/client.ts';
import type { Overview, SearchResult, SearchResults } from '../api/items.ts';
import { asRequestError, sentenceOf } from '../api/errors.ts';
import { environmentPage, groupPage, overviewPath, repositoryPage } from '../api/paths.ts';
import { favourites } from '../state/favourites.ts';
import { shownHealth, shownState } from '../view/shown-state.ts';
import { Dialog } from './dialog.tsx';
import { Icon, type IconName } from './icons.tsx';
import { StateBadge } from './state-badge.tsx';
import { visibleText } from '../view/visible-text.ts';

const waitMs = 120;
const limit = 12;

/** One box that finds groups, repositories, refs and environments. */
export function Search({ onClose }: { onClose: () => void }): JSX.Element {
  const { route } = useLocation();
  const list = useId();
  const text = useSignal('');
  const chosen = useSignal(0);
  const found = useSignal<readonly SearchResult[]>([]);
  /** The text that was searched for, and whether Enter was pressed before its results were there. */
  const foundFor = useSignal('');
  const isWaiting = useSignal(false);
  const message = useSignal('');
  const open = (result: SearchResult | undefined) => {
    if (!result) return;
    onClose();
    route(pageOf(result));
  };
  useEffect(() => {
    const wanted = text.value.trim();
    chosen.value = 0;
    const ended = new AbortController();
    const fail = (error: unknown) => {
      if (!ended.signal.aborted) message.value = sentenceOf(asRequestError(error));
    };
    isWaiting.value = false;
    if (wanted === '') {
      found.value = [];
      foundFor.value = '';
      message.value = '';
      if (favourites.value.length > 0) {
        readFavourites(ended.signal)
          .then((results) => (found.value = results))
          .catch(fail);
      }
      return () => ended.abort();
    }
    const timer = setTimeout(() => {
      const path = `/api/search?limit=${limit}&text=${encodeURIComponent(wanted.slice(0, 100))}`;
      send<SearchResults>('GET', path, { signal: ended.signal })
        .then(({ results }) => {
          found.value = results;
          foundFor.value = wanted;
          if (isWaiting.value) open(results[0]);
          message.value = results.length === 0 ? `Nothing is called "${wanted}".` : '';
        })
        .catch(fail);
    }, waitMs);
    return () => {
      clearTimeout(timer);
      ended.abort();
    };
  }, [text.value]);
  const results = found.value;
  const onKeyDown = (event: KeyboardEvent) => {
    const steps: Record<string, number> = { ArrowDown: 1, ArrowUp: -1 };
    const step = steps[event.key];
    if (step !== undefined && results.length > 0) {
      event.preventDefault();
      chosen.value = (chosen.value + step + results.length) % results.length;
    } else if (event.key === 'Enter') {
      event.preventDefault();
      if (foundFor.value === text.value.trim()) open(results[chosen.value]);
      else isWaiting.value = true;
    }
  };
  return (
    <div class="search-dialog">
      <Dialog title="Search" onClose={onClose}>
        <input
          type="text"
          role="combobox"
          aria-expanded={results.length > 0}
          aria-controls={list}
          aria-activedescendant={results.length > 0 ? `${list}-${chosen.value}` : undefined}
          aria-label="Group, repository, ref, environment or commit"
          placeholder="Group, repository, ref, environment or commit"
          value={text.value}
          autofocus
          autocomplete="off"
          spellcheck={false}
          onInput={(event) => (text.value = event.currentTarget.value)}
          onKeyDown={onKeyDown}
        />
        <ul id={list} role="listbox" aria-label="Results" class="search-results">
          {results.map((result, index) => (
            <li
              key={`${result.kind} ${result.item.id}`}
              id={`${list}-${index}`}
              role="option"
              aria-selected={index === chosen.value}
              onClick={() => open(result)}
              onMouseMove={() => (chosen.value = index)}
            >
              <Result result={result} />
            </li>
          ))}
        </ul>
        <p role="status" class="hint">
          {message.value === '' && text.value === '' && results.length > 0 ? 'Your favourites' : message.value}
        </p>
      </Dialog>
    </div>
  );
}

function Result({ result }: { result: SearchResult }): JSX.Element {
  const { kind, item } = result;
  const icons: Record<Exclude<SearchResult['kind'], 'environment'>, IconName> = { group: 'person', repository: 'copy' };
  const state =
    kind === 'environment' ? shownState(item) : kind === 'repository' ? shownHealth(item.health) : undefined;
  return (
    <>
      <Icon name={kind === 'environment' ? item.gitRef.type : icons[kind]} />
      <span class="one-line">
        <span class="isolate">{visibleText(kind === 'environment' ? item.gitRef.name : item.name)}</span>{' '}
        <span class="muted isolate">{kind === 'group' ? 'group' : kind === 'repository' ? item.id : item.rid}</span>
      </span>
      {state && <StateBadge state={state} isQuiet />}
    </>
  );
}

function pageOf({ kind, item }: SearchResult): string {
  switch (kind) {
    case 'group':
      return groupPage(item.id);
    case 'repository':
      return repositoryPage(item.id);
    case 'environment':
      return environmentPage(item.id);
  }
}

/** Reads the favourites, the last starred first. @throws RequestError */
async function readFavourites(signal: AbortSignal): Promise<SearchResult[]> {
  const ids = favourites.value.toReversed();
  const { environments } = await send<Overview>('GET', overviewPath(1, favourites.value), { signal });
  return ids
    .flatMap((id) => environments.find((one) => one.id === id) ?? [])
    .slice(0, limit)
    .map((item) => ({ kind: 'environment', item }));
}
