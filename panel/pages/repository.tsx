import type { JSX } from 'preact';
import { useRoute } from 'preact-iso/router';
import { send } from '../api/client.ts';
import { sentenceOf } from '../api/errors.ts';
import { groupOf, groupPage, repositoryPage, repositoryPath } from '../api/paths.ts';
import type { RepositoryHead } from '../api/types.ts';
import { LoadError, Skeleton } from '../components/error-note.tsx';
import { Icon } from '../components/icons.tsx';
import { currentTab, Tabs } from '../components/tabs.tsx';
import { useAction } from '../state/action.ts';
import { useBreadcrumbs } from '../state/breadcrumbs.ts';
import { notify } from '../state/notices.ts';
import { useQuery, useTitle } from '../state/page.ts';
import { useResource } from '../state/resource.ts';
import { EnvironmentList } from './repository/environment-list.tsx';
import { RepositoryProblem } from './repository/problem.tsx';
import { Spawn } from './repository/spawn.tsx';
import { RepositorySettings } from './repository/settings.tsx';
import { RepositoryVariables } from './repository/variables.tsx';
import { ServiceFileEditor } from './repository/service-file.tsx';
import { visibleText } from '../view/visible-text.ts';

/** A repository: its environments by ref, and its settings. */
export default function RepositoryPage(): JSX.Element {
  const { params } = useRoute();
  const id = params['id'] ?? '';
  return <Repository key={id} id={id} />;
}

function Repository({ id }: { id: string }): JSX.Element {
  const { query, setQuery } = useQuery();
  const resource = useResource<RepositoryHead>(`${repositoryPath(id)}?environments=false`);
  const repository = resource.data.value;
  const name = visibleText(repository?.name ?? id.slice(id.indexOf('.') + 1));
  const tabs = [
    { id: 'environments', text: 'Environments', href: repositoryPage(id) },
    { id: 'variables', text: 'Variables', href: repositoryPage(id, 'variables') },
    { id: 'service-file', text: 'Service file', href: repositoryPage(id, 'service-file') },
    { id: 'settings', text: 'Settings', href: repositoryPage(id, 'settings') },
  ];
  const tab = currentTab(tabs, query['tab']);
  useTitle(`${name} · ${groupOf(id)}`);
  useBreadcrumbs(
    [
      { text: groupOf(id), href: groupPage(groupOf(id)) },
      { text: name, href: repositoryPage(id) },
    ],
    true,
  );
  if (!repository) {
    const error = resource.error.value;
    if (error) return <LoadError error={error} retry={() => void resource.reload()} what="repository" />;
    return <Skeleton what="the repository" lines={8} />;
  }
  return (
    <div class="stack">
      <div class="spread">
        <div>
          <h1 class="isolate">{name}</h1>
          <p class="muted">
            <RepositoryAddress url={repository.url} />
          </p>
        </div>
        <div class="row">
          <Sync id={id} />
          <button type="button" class="primary" onClick={() => setQuery({ spawn: '1' }, 'push')}>
            <Icon name="plus" /> Spawn
          </button>
        </div>
      </div>
      <RepositoryProblem repository={repository} />
      <Tabs tabs={tabs} current={tab} label="Repository" />
      {tab === 'environments' && <EnvironmentList repository={id} />}
      {tab === 'variables' && <RepositoryVariables id={id} />}
      {tab === 'service-file' && <ServiceFileEditor id={id} />}
      {tab === 'settings' && <RepositorySettings repository={repository} />}
      {query['spawn'] !== undefined && (
        <Spawn repository={id} onClose={() => setQuery({ spawn: undefined, type: undefined })} />
      )}
    </div>
  );
}

/** A link only for a web address, because the text comes from the user who added the repository. */
export function RepositoryAddress({ url }: { url: string }): JSX.Element {
  if (!/^https?:\/\//i.test(url)) return <span class="isolate">{url}</span>;
  return (
    <a href={url} target="_blank" rel="noopener noreferrer" class="isolate">
      {url}
    </a>
  );
}

function Sync({ id }: { id: string }): JSX.Element {
  const action = useAction(async () => {
    await send('POST', `${repositoryPath(id)}/sync`);
    notify('Synchronizing with the refs at the Git host.');
  });
  return (
    <>
      <button
        type="button"
        disabled={action.isPending.value}
        onClick={action.run}
        title="Read the refs at the Git host now"
      >
        <Icon name="sync" /> Sync
      </button>
      {action.error.value && <span class="fault">{sentenceOf(action.error.value)}</span>}
    </>
  );
}
