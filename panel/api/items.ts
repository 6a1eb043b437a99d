// Types of the items in lists, the search and the change stream, from the declarations in api/.
import type { ListedEnvironment } from '../../api/environments/listed-environment.ts';
import type { Health } from '../../api/http/health-view.ts';
import type { EnvironmentCounts, EnvironmentPage } from '../../api/overview/environment-list.ts';
import type { Overview } from '../../api/overview/overview.ts';
import type { SearchResults } from '../../api/overview/search.ts';
import type { ListedGroup } from '../../api/groups/listed-group.ts';

export type { Change } from '../../api/events/change.ts';
export type { EnvironmentPage, Health, Overview, SearchResults };
export type EnvironmentItem = ListedEnvironment;
export type GroupItem = ListedGroup;
export type Counts = EnvironmentCounts;
export type Status = EnvironmentItem['status'];
export type CountedRepository = Overview['repositories'][number];
export type RepositoryItem = Omit<CountedRepository, 'counts'>;
export type SearchResult = SearchResults['results'][number];
