import type { JSX } from 'preact';
import { useRoute } from 'preact-iso/router';
import { groupPage, groupPath, repositoryPage } from '../api/paths.ts';
import type { Overview } from '../api/items.ts';
import type { GroupListItem, MemberView, VariableView } from '../api/types.ts';
import { Command } from '../components/copy.tsx';
import { Empty, LoadError, Skeleton } from '../components/error-note.tsx';
import { Icon } from '../components/icons.tsx';
import { RepositoryCard } from '../components/repository-card.tsx';
import { currentTab, Tabs } from '../components/tabs.tsx';
import { VariablesEditor } from '../components/variables-editor.tsx';
import { useBreadcrumbs } from '../state/breadcrumbs.ts';
import { useQuery, useTitle } from '../state/page.ts';
import { useResource } from '../state/resource.ts';
import { AddRepository } from './group/add-repository.tsx';
import { DeleteGroup } from './group/delete-group.tsx';
import { Members } from './group/members.tsx';
import { Usage } from './group/usage.tsx';
import { visibleText } from '../view/visible-text.ts';

/** A group: its repositories, members, variables, and what its environments use. */
export default function GroupPage(): JSX.Element {
  const { params } = useRoute();
  const id = params['id'] ?? '';
  return <Group key={id} id={id} />;
}

function Group({ id }: { id: string }): JSX.Element {
  const { query, setQuery } = useQuery();
  const groups = useResource<GroupListItem[]>('/api/groups');
  const overview = useResource<Overview>('/api/overview?limit=100');
  const group = groups.data.value?.find((one) => one.id === id);
  const name = visibleText(group?.name ?? id);
  useTitle(name);
  useBreadcrumbs([{ text: name, href: groupPage(id) }]);
  const tabs = [
    { id: 'repositories', text: 'Repositories', href: groupPage(id) },
    { id: 'members', text: 'Members', href: groupPage(id, 'members') },
    { id: 'variables', text: 'Variables', href: groupPage(id, 'variables') },
    { id: 'usage', text: 'Usage', href: groupPage(id, 'usage') },
    { id: 'settings', text: 'Settings', href: groupPage(id, 'settings') },
  ];
  const tab = currentTab(tabs, query['tab']);
  if (!groups.data.value) {
    const error = groups.error.value;
    if (error) return <LoadError error={error} retry={() => void groups.reload()} what="group" />;
    return <Skeleton what="the group" />;
  }
  if (!group) {
    return (
      <Empty title="No such group" isPage>
        <p>It was deleted, or you are not a member of it. Ask a member to add you.</p>
        <p>
          <a href="/">Go to the overview</a>
        </p>
      </Empty>
    );
  }
  const repositories = overview.data.value?.repositories.filter(({ gid }) => gid === id);
  const add = () => setQuery({ add: '1' }, 'push');
  return (
    <div class="stack">
      <div class="spread">
        <h1 class="isolate">{name}</h1>
        <button type="button" class="primary" onClick={add}>
          <Icon name="plus" /> Add a repository
        </button>
      </div>
      {group.deleting && (
        <p class="note note-degraded" role="status">
          The group is being deleted, with everything in it.
        </p>
      )}
      <Tabs tabs={tabs} current={tab} label="Group" />
      {tab === 'repositories' &&
        (repositories === undefined ? (
          <Skeleton what="repositories" />
        ) : repositories.length === 0 ? (
          <Empty title="No repositories yet">
            <p>Add the Git repository whose branches, tags and pull requests are to run.</p>
            <button type="button" class="primary" onClick={add}>
              Add a repository
            </button>
            <Command text={`coppice repo add --group ${id}`} />
          </Empty>
        ) : (
          <>
            <h2 class="visually-hidden">Repositories</h2>
            <ul class="repository-grid">
              {repositories.map((repository) => (
                <li key={repository.id}>
                  <RepositoryCard repository={repository} href={repositoryPage(repository.id)} />
                </li>
              ))}
            </ul>
          </>
        ))}
      {tab === 'members' && <GroupSettings id={id} what="members" />}
      {tab === 'variables' && <GroupSettings id={id} what="variables" />}
      {tab === 'usage' && <Usage id={id} />}
      {tab === 'settings' && <DeleteGroup id={id} name={name} repositories={repositories} />}
      {query['add'] !== undefined && <AddRepository group={id} onClose={() => setQuery({ add: undefined })} />}
    </div>
  );
}

function GroupSettings({ id, what }: { id: string; what: 'members' | 'variables' }): JSX.Element {
  const resource = useResource<{ members: MemberView[]; variables: VariableView[] }>(`${groupPath(id)}/settings`);
  const settings = resource.data.value;
  const error = resource.error.value;
  if (!settings) {
    if (error) return <LoadError error={error} retry={() => void resource.reload()} what={`list of ${what}`} />;
    return <Skeleton what={what} />;
  }
  const onChange = () => resource.invalidate();
  if (what === 'members') return <Members id={id} members={settings.members} onChange={onChange} />;
  return <VariablesEditor variables={settings.variables} path={groupPath(id)} id={id} of="group" onChange={onChange} />;
}
