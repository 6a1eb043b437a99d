import type { JSX } from 'preact';
import { useRef } from 'preact/hooks';
import type { EnvironmentItem } from '../api/items.ts';
import { environmentPage } from '../api/paths.ts';
import { favourites, toggleFavourite } from '../state/favourites.ts';
import { environments } from '../state/live.ts';
import { inSections, isSameItems } from '../view/list-sections.ts';
import { problemInOneLine } from '../view/problem-lines.ts';
import { shownState } from '../view/shown-state.ts';
import { Icon } from './icons.tsx';
import { StateBadge } from './state-badge.tsx';
import { Ago, Elapsed } from './times.tsx';
import { visibleText } from '../view/visible-text.ts';
import { shortCommit } from '../view/short-commit.ts';

/** Environments in rows; each shows the newest known state. */
export function EnvironmentRows({
  items,
  withRepository = false,
  label,
}: {
  items: readonly EnvironmentItem[];
  withRepository?: boolean;
  label: string;
}): JSX.Element {
  const known = environments.value;
  const drawn = useRef<readonly DrawnRows[]>([]);
  const shown = items.map((item) => {
    const newest = known.get(item.id);
    return newest && newest.version > item.version ? newest : item;
  });
  drawn.current = inSections(shown, rowsOfSection).map((section, index) => {
    const before = drawn.current[index];
    // Preact skips an element that is the same object: of 10,000 rows, only the changed sections cost time.
    if (before && isSameItems(before.section, section)) return before;
    return { section, element: <RowSection key={index} items={section} withRepository={withRepository} /> };
  });
  return (
    <div role="list" class="environment-list" aria-label={label}>
      {inSections(drawn.current, sectionsOfBlock).map((sections, index) => {
        const rows = sections.reduce((sum, { section }) => sum + section.length, 0);
        return (
          <div key={index} role="presentation" class="row-section" style={{ '--rows': rows }}>
            {sections.map(({ element }) => element)}
          </div>
        );
      })}
    </div>
  );
}

/** Rows that the browser renders together when they come into view. */
interface DrawnRows {
  section: readonly EnvironmentItem[];
  element: JSX.Element;
}

/**
 * Small sections are cheap to render, but the browser checks in each frame which of them are in view. It does not check
 * those of a block that is out of view.
 */
const rowsOfSection = 25;
const sectionsOfBlock = 10;

function RowSection({
  items,
  withRepository,
}: {
  items: readonly EnvironmentItem[];
  withRepository: boolean;
}): JSX.Element {
  return (
    <div role="presentation" class="row-section" style={{ '--rows': items.length }}>
      {items.map((item) => (
        <EnvironmentRow key={item.id} item={item} withRepository={withRepository} />
      ))}
    </div>
  );
}

function EnvironmentRow({ item, withRepository }: { item: EnvironmentItem; withRepository: boolean }): JSX.Element {
  const state = shownState(item);
  const { problem } = item;
  const { first: text, more } = problem
    ? problemInOneLine(problem.reason, problem.message)
    : { first: item.subject ?? nameIfOther(item), more: '' };
  const isBuilding = item.build?.result === 'running' && item.build.startedAt !== undefined;
  return (
    <div role="listitem" class={`environment-row state-${state}`}>
      <span class="cell-badge">
        <StateBadge state={state} isQuiet />
      </span>
      <span class="ref">
        <Icon name={item.gitRef.type} />
        <a href={environmentPage(item.id)} class="one-line" title={visibleText(item.gitRef.name)}>
          {withRepository && <span class="muted isolate">{item.rid} </span>}
          <span class="isolate">{refText(item)}</span>
        </a>
      </span>
      <span class={`subject ${problem ? 'is-problem' : ''}`} title={problem?.message}>
        <span class="isolate one-line">{visibleText(text)}</span>
        {more !== '' && <span class="subject-more">{more}</span>}
      </span>
      <code class="cell-commit muted">{item.commit?.slice(0, shortCommit)}</code>
      <span class="cell-age muted">
        {isBuilding && item.build?.startedAt !== undefined ? (
          <Elapsed since={item.build.startedAt} />
        ) : (
          <Ago at={item.builtAt > 0 ? item.builtAt : item.createdAt} isShort />
        )}
      </span>
      <span class="cell-ttl muted">
        {item.expiresAt !== undefined && (
          <span class="row" title="Time to live">
            <Icon name="clock" />
            <Ago at={item.expiresAt} isShort />
          </span>
        )}
      </span>
      <span class="row-actions">
        <Star id={item.id} name={item.name} />
        {item.weburl !== undefined && state !== 'deleting' && item.status === 'built' && (
          <a
            class="button icon-button"
            href={item.weburl}
            target="_blank"
            rel="noopener noreferrer"
            aria-label={`Open ${item.name}`}
            title="Open"
          >
            <Icon name="external" />
          </a>
        )}
      </span>
    </div>
  );
}

function refText({ gitRef }: EnvironmentItem): string {
  return gitRef.type === 'pull request' ? `#${gitRef.name}` : visibleText(gitRef.name);
}

/** Returns the name of an environment if it differs from the one in its id; otherwise an empty text. */
function nameIfOther({ name, id }: EnvironmentItem): string {
  return id.endsWith(`.${name}`) ? '' : name;
}

export function Star({ id, name }: { id: string; name: string }): JSX.Element {
  const isOn = favourites.value.includes(id);
  return (
    <button
      type="button"
      class={`icon-button ${isOn ? 'star-on' : ''}`}
      aria-pressed={isOn}
      aria-label={`Favourite ${name}`}
      title={isOn ? 'Remove from favourites' : 'Add to favourites'}
      onClick={() => toggleFavourite(id)}
    >
      <Icon name="star" filled={isOn} />
    </button>
  );
}
