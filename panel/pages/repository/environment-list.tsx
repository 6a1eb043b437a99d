import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { useEffect } from 'preact/hooks';
import { send } from '../../api/client.ts';
import { asRequestError, type RequestError } from '../../api/errors.ts';
import type { EnvironmentItem, EnvironmentPage as List } from '../../api/items.ts';
import { repositoryPath } from '../../api/paths.ts';
import { Command } from '../../components/copy.tsx';
import { EnvironmentRows } from '../../components/environment-row.tsx';
import { Empty, ErrorNote, LoadError, Skeleton } from '../../components/error-note.tsx';
import { Icon } from '../../components/icons.tsx';
import { STATE_ICONS } from '../../components/state-badge.tsx';
import { deleted, noteListed } from '../../state/live.ts';
import { useQuery } from '../../state/page.ts';
import { useResource } from '../../state/resource.ts';
import { countOf } from '../../view/merge-items.ts';
import { listQuery } from '../../view/list-query.ts';
import type { ShownState } from '../../view/shown-state.ts';

/** By which parameter of the page's address environments of a shown state are found. */
const filters: readonly (readonly [name: 'health' | 'state' | 'asleep', state: Exclude<ShownState, 'deleting'>])[] = [
  ['health', 'failed'],
  ['health', 'degraded'],
  ['state', 'building'],
  ['state', 'built'],
  ['asleep', 'asleep'],
  ['state', 'created'],
  ['state', 'empty'],
];
const noFilters = { text: undefined, health: undefined, state: undefined, asleep: undefined, type: undefined };
const typeMs = 200;
/** Rows of each page after the first one. */
const laterPage = 200;

/** The environments of a repository in pages, with filters that the address contains. */
export function EnvironmentList({ repository }: { repository: string }): JSX.Element {
  const { query, setQuery } = useQuery();
  const path = `${repositoryPath(repository)}/environments?${listQuery(query)}`;
  const resource = useResource<List>(path);
  // While another filter is loading, the results of the previous one stay.
  const last = useSignal<List | undefined>(undefined);
  const list = resource.data.value ?? last.value;
  useEffect(() => {
    if (resource.data.value) last.value = resource.data.value;
  }, [resource.data.value]);
  const error = resource.error.value;
  if (!list) {
    if (error) return <LoadError error={error} retry={() => void resource.reload()} what="list" />;
    return <Skeleton what="environments" lines={8} />;
  }
  noteListed(list.items);
  const isFiltered = ['text', 'health', 'state', 'asleep', 'type'].some((name) => query[name] !== undefined);
  const all = Object.values(list.counts.status).reduce((sum, count) => sum + count, 0);
  if (all === 0 && !isFiltered) return <NoEnvironments repository={repository} />;
  return (
    <div class="stack-small">
      <div class="filters" role="search" aria-label="Filter environments">
        <FilterText value={query['text'] ?? ''} onChange={(text) => setQuery({ text })} />
        {filters.map(([name, state]) => {
          const count = countOf(list.counts, state);
          const filter = name === 'asleep' ? 'true' : state;
          const isOn = query[name] === filter;
          if (count === 0 && !isOn) return null;
          return (
            <button
              key={state}
              type="button"
              class={`chip state-${state}`}
              aria-pressed={isOn}
              onClick={() => setQuery({ [name]: isOn ? undefined : filter })}
            >
              <Icon name={STATE_ICONS[state]} /> {state} <span class="figures muted">{count}</span>
            </button>
          );
        })}
        <span class="row">
          <select aria-label="Type of ref" onInput={(event) => setQuery({ type: event.currentTarget.value })}>
            {refTypes.map(([value, text]) => (
              <option key={value} value={value} selected={(query['type'] ?? '') === value}>
                {text}
              </option>
            ))}
          </select>
          <select aria-label="Order" onInput={(event) => setQuery({ sort: event.currentTarget.value })}>
            {orders.map(([value, text]) => (
              <option key={value} value={value} selected={(query['sort'] ?? '') === value}>
                {text}
              </option>
            ))}
          </select>
          <span class="muted figures" role="status">
            {list.total} of {all}
          </span>
        </span>
      </div>
      <ErrorNote error={error} />
      {list.total === 0 ? (
        <Empty title="No environment matches">
          <button type="button" onClick={() => setQuery(noFilters)}>
            Remove the filters
          </button>
        </Empty>
      ) : (
        <Pages key={path} path={path} first={list} />
      )}
    </div>
  );
}

const refTypes = [
  ['', 'All refs'],
  ['branch', 'Branches'],
  ['pull request', 'Pull requests'],
  ['tag', 'Tags'],
] as const;
const orders = [
  ['', 'Needs attention first'],
  ['-built', 'Recently built first'],
  ['-created', 'Newest first'],
  ['name', 'By name'],
] as const;

function FilterText({ value, onChange }: { value: string; onChange: (text: string) => void }): JSX.Element {
  const text = useSignal(value);
  useEffect(() => {
    if (text.value === value) return undefined;
    const timer = setTimeout(() => onChange(text.value), typeMs);
    return () => clearTimeout(timer);
  }, [text.value]);
  return (
    <input
      type="search"
      aria-label="Ref, name or commit"
      placeholder="Ref, name or commit"
      value={text.value}
      onInput={(event) => (text.value = event.currentTarget.value)}
    />
  );
}

/** The first page as it is now, and further pages as they were read; rows show the newest state of each environment. */
function Pages({ path, first }: { path: string; first: List }): JSX.Element {
  const more = useSignal<readonly EnvironmentItem[]>([]);
  const next = useSignal<string | undefined>(undefined);
  const isStarted = useSignal(false);
  const isPending = useSignal(false);
  const error = useSignal<RequestError | undefined>(undefined);
  const cursor = isStarted.value ? next.value : first.next;
  const load = async () => {
    if (cursor === undefined || isPending.value) return;
    isPending.value = true;
    try {
      const list = await send<List>(
        'GET',
        `${path.replace(/\blimit=\d+/, `limit=${laterPage}`)}&cursor=${encodeURIComponent(cursor)}`,
      );
      noteListed(list.items);
      more.value = [...more.value, ...list.items];
      next.value = list.next;
      isStarted.value = true;
      error.value = undefined;
    } catch (thrown) {
      error.value = asRequestError(thrown);
    } finally {
      isPending.value = false;
    }
  };
  const shown = new Map([...first.items, ...more.value].map((item) => [item.id, item]));
  const items = [...shown.values()].filter(({ id }) => !deleted.value.has(id));
  return (
    <>
      <EnvironmentRows items={items} label="Environments" />
      <ErrorNote error={error.value} />
      {cursor !== undefined && (
        <div class="buttons">
          <button type="button" disabled={isPending.value} onClick={() => void load()}>
            Show more
          </button>
        </div>
      )}
    </>
  );
}

function NoEnvironments({ repository }: { repository: string }): JSX.Element {
  const { setQuery } = useQuery();
  return (
    <Empty title="No environments yet">
      <p>
        An environment runs one branch, tag or pull request at an address of its own. A sync creates an empty one for
        each ref.
      </p>
      <button type="button" class="primary" onClick={() => setQuery({ spawn: '1' }, 'push')}>
        Spawn an environment
      </button>
      <Command text={`coppice env spawn ${repository} --branch main --wait`} />
    </Empty>
  );
}
