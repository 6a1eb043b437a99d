import type { JSX } from 'preact';
import type { CountedRepository } from '../api/items.ts';
import { countOf } from '../view/merge-items.ts';
import { shownHealth, type ShownState } from '../view/shown-state.ts';
import { Icon, type IconName } from './icons.tsx';
import { StateBadge } from './state-badge.tsx';
import { visibleText } from '../view/visible-text.ts';

const shownCounts: readonly (readonly ['failed' | 'degraded' | 'progressing' | 'healthy', ShownState, IconName])[] = [
  ['failed', 'failed', 'cross'],
  ['degraded', 'degraded', 'warning'],
  ['progressing', 'building', 'progress'],
  ['healthy', 'built', 'check'],
];

/** A repository with the numbers of its environments by health. */
export function RepositoryCard({ repository, href }: { repository: CountedRepository; href: string }): JSX.Element {
  const { counts, health, problem } = repository;
  const total = Object.values(counts.health).reduce((sum, count) => sum + count, 0);
  return (
    <div class="repository-card">
      <div class="spread">
        <h3>
          <a href={href} class="isolate">
            {visibleText(repository.name)}
          </a>
        </h3>
        {health === 'failed' && <StateBadge state={shownHealth(health)} isQuiet />}
      </div>
      <p class="muted one-line isolate" title={problem?.message ?? repository.url}>
        {problem?.message ?? repository.url}
      </p>
      <p class="counts figures">
        {shownCounts.map(([key, state, icon]) =>
          countOf(counts, key) === 0 ? null : (
            <span key={key} class={`state-${state}`}>
              <Icon name={icon} /> {countOf(counts, key)} {key === 'progressing' ? 'in progress' : key}
            </span>
          ),
        )}
        <span class="state-empty">
          {total} {total === 1 ? 'environment' : 'environments'}
        </span>
      </p>
    </div>
  );
}
