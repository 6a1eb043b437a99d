import type { JSX } from 'preact';
import { useRef } from 'preact/hooks';
import type { EnvironmentItem } from '../api/items.ts';
import { environmentPage } from '../api/paths.ts';
import { useClockInView } from '../state/clock-in-view.ts';
import { favourites, toggleFavourite } from '../state/favourites.ts';
import { environments } from '../state/live.ts';
import { inSections, isSameItems } from '../view/list-sections.ts';
import { problemInOneLine } from '../view/problem-lines.ts';
import { shortCommit } from '../view/short-commit.ts';
import { shownState } from '../view/shown-state.ts';
import { ageText } from '../view/time.ts';
import { visibleText } from '../view/visible-text.ts';
import { Icon } from './icons.tsx';
import { StateBadge } from './state-badge.tsx';
import { Elapsed, Time } from './times.tsx';

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
  const drawn = useRef<readonly DrawnBlock[]>([]);
  const shown = items.map((item) => {
    const newest = known.get(item.id);
    return newest && newest.version > item.version ? newest : item;
  });
  drawn.current = inSections(shown, rowsOfBlock).map((block, index) => {
    const before = drawn.current[index];
    // Preact skips an element that is the same object: of 10,000 rows, only the changed blocks cost time.
    if (before && isSameItems(before.block, block)) return before;
    return { block, element: <RowBlock key={index} items={block} withRepository={withRepository} /> };
  });
  return (
    <div role="list" class="environment-list" aria-label={label}>
      {drawn.current.map(({ element }) => element)}
    </div>
  );
}

interface DrawnBlock {
  block: readonly EnvironmentItem[];
  element: JSX.Element;
}

/**
 * The browser renders the rows of a section together when they come near the view. Small sections are cheap to render,
 * but in each frame the browser checks which of them are near. It does not check those of a block that is far from it.
 */
const rowsOfSection = 10;
const rowsOfBlock = 250;

/** A row as it was rendered last: its item, and the other texts it showed. */
interface DrawnRow {
  item: EnvironmentItem;
  age: string;
  ttl: string;
  isStarred: boolean;
  element: JSX.Element;
}

function RowBlock({
  items,
  withRepository,
}: {
  items: readonly EnvironmentItem[];
  withRepository: boolean;
}): JSX.Element {
  const block = useRef<HTMLDivElement>(null);
  const seconds = useClockInView(block).value / 1000;
  const starred = favourites.value;
  const drawn = useRef<ReadonlyMap<string, DrawnRow>>(new Map());
  const rows = items.map((item): DrawnRow => {
    const age = ageText(item.builtAt > 0 ? item.builtAt : item.createdAt, seconds, true);
    const ttl = item.expiresAt === undefined ? '' : ageText(item.expiresAt, seconds, true);
    const isStarred = starred.includes(item.id);
    const before = drawn.current.get(item.id);
    if (before?.item === item && before.age === age && before.ttl === ttl && before.isStarred === isStarred)
      return before;
    const shown = { item, age, ttl, isStarred };
    return { ...shown, element: <EnvironmentRow key={item.id} {...shown} withRepository={withRepository} /> };
  });
  drawn.current = new Map(rows.map((row) => [row.item.id, row]));
  return (
    <div ref={block} role="presentation" class="row-section" style={{ '--rows': items.length }}>
      {inSections(rows, rowsOfSection).map((section, index) => (
        <div key={index} role="presentation" class="row-section" style={{ '--rows': section.length }}>
          {section.map(({ element }) => element)}
        </div>
      ))}
    </div>
  );
}

interface EnvironmentRowProps extends Omit<DrawnRow, 'element'> {
  withRepository: boolean;
}

/**
 * The browser renders about a hundred rows in each frame of a fast scroll. So a row has few elements, and no component
 * in it follows a signal unless its build is running.
 */
function EnvironmentRow({ item, age, ttl, isStarred, withRepository }: EnvironmentRowProps): JSX.Element {
  const state = shownState(item);
  const { problem } = item;
  const { first: text, more } = problem
    ? problemInOneLine(problem.reason, problem.message)
    : { first: item.subject ?? nameIfOther(item), more: '' };
  const isBuilding = item.build?.result === 'running' && item.build.startedAt !== undefined;
  return (
    <div role="listitem" class={`environment-row state-${state}`}>
      <StateBadge state={state} isQuiet />
      <a href={environmentPage(item.id)} class="ref one-line isolate" title={visibleText(item.gitRef.name)}>
        <Icon name={item.gitRef.type} />
        {withRepository && <span class="muted isolate">{item.rid} </span>}
        {withRepository ? <span class="isolate">{refText(item)}</span> : refText(item)}
      </a>
      {more === '' ? (
        <span class={`subject isolate one-line ${problem ? 'is-problem' : ''}`} title={problem?.message}>
          {visibleText(text)}
        </span>
      ) : (
        <span class="subject has-more is-problem" title={problem?.message}>
          <span class="isolate one-line">{visibleText(text)}</span>
          <span class="subject-more">{more}</span>
        </span>
      )}
      <code class="cell-commit muted">{item.commit?.slice(0, shortCommit)}</code>
      {isBuilding && item.build?.startedAt !== undefined ? (
        <span class="cell-age muted">
          <Elapsed since={item.build.startedAt} />
        </span>
      ) : (
        <Time at={item.builtAt > 0 ? item.builtAt : item.createdAt} text={age} className="cell-age muted" />
      )}
      <span class="cell-ttl muted" title={item.expiresAt === undefined ? undefined : 'Time to live'}>
        {item.expiresAt !== undefined && <Icon name="clock" />}
        {item.expiresAt !== undefined && <Time at={item.expiresAt} text={ttl} />}
      </span>
      <span class="row-actions">
        <StarButton id={item.id} name={item.name} isOn={isStarred} />
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
  return <StarButton id={id} name={name} isOn={favourites.value.includes(id)} />;
}

function StarButton({ id, name, isOn }: { id: string; name: string; isOn: boolean }): JSX.Element {
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
