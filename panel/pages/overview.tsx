import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { useMemo } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import { send } from '../api/client.ts';
import type { CountedRepository, EnvironmentItem, GroupItem, Overview } from '../api/items.ts';
import { groupPage, overviewPath, repositoryPage } from '../api/paths.ts';
import type { GroupView } from '../api/types.ts';
import { Command } from '../components/copy.tsx';
import { Dialog } from '../components/dialog.tsx';
import { EnvironmentRows } from '../components/environment-row.tsx';
import { Empty, LoadError, Skeleton } from '../components/error-note.tsx';
import { Form, TextField } from '../components/form.tsx';
import { Icon } from '../components/icons.tsx';
import { RepositoryCard } from '../components/repository-card.tsx';
import { useAction, useIsShown } from '../state/action.ts';
import { notify } from '../state/notices.ts';
import { useBreadcrumbs } from '../state/breadcrumbs.ts';
import { favourites } from '../state/favourites.ts';
import { deleted, environments, noteListed } from '../state/live.ts';
import { useTitle } from '../state/page.ts';
import { useResource } from '../state/resource.ts';
import { byUrgency, countOf, needsAttention } from '../view/merge-items.ts';
import { visibleText } from '../view/visible-text.ts';

const maxRead = 100;
const maxRecent = 10;
const maxAtFirst = 10;

/** The environments that need attention first, then what is in progress, and all repositories. */
export function OverviewPage(): JSX.Element {
  useTitle('Overview');
  useBreadcrumbs([], true);
  // A favourite that is added here is in the list already.
  const path = useMemo(() => overviewPath(maxRead, favourites.peek()), []);
  const resource = useResource<Overview>(path);
  const overview = resource.data.value;
  const error = resource.error.value;
  const isAdding = useSignal(false);
  if (!overview) {
    if (error) return <LoadError error={error} retry={() => void resource.reload()} what="overview" />;
    return <Skeleton what="the overview" lines={8} />;
  }
  noteListed(overview.environments);
  const items = currentItems(overview.environments);
  const needingAttention = items.filter(needsAttention);
  const inProgress = items.filter((item) => item.health === 'progressing' && !needsAttention(item));
  const starred = items.filter(({ id }) => favourites.value.includes(id));
  const recent = items.filter(({ health, status }) => health === 'healthy' && status === 'built').slice(0, maxRecent);
  const { counts } = overview;
  return (
    <div class="stack">
      <div class="spread">
        <h1>Overview</h1>
        <button type="button" onClick={() => (isAdding.value = true)}>
          <Icon name="plus" /> Create a group
        </button>
      </div>
      {isAdding.value && <CreateGroup onClose={() => (isAdding.value = false)} />}
      {overview.groups.length === 0 ? (
        <Empty title="No groups yet">
          <p>A group holds repositories, and the people who work on them. Create one, then add a repository.</p>
          <button type="button" class="primary" onClick={() => (isAdding.value = true)}>
            Create a group
          </button>
          <Command text="coppice group create acme" />
        </Empty>
      ) : overview.repositories.length === 0 ? (
        <FirstRepository groups={overview.groups} />
      ) : sum(counts.status) === 0 ? null : (
        <p class="summary figures">
          <Count state="failed" count={countOf(counts, 'failed')} text="failed" />
          <Count state="degraded" count={countOf(counts, 'degraded')} text="degraded" />
          <Count state="building" count={countOf(counts, 'progressing')} text="in progress" />
          <Count state="built" count={countOf(counts, 'healthy')} text="healthy" />
          <Count state="asleep" count={counts.asleep} text="asleep" />
          <Count state="empty" count={countOf(counts, 'inactive') - counts.asleep} text="empty" />
        </p>
      )}
      <Section
        title="Needs attention"
        items={needingAttention}
        total={Math.max(needingAttention.length, countOf(counts, 'failed') + countOf(counts, 'degraded'))}
      />
      <Section title="In progress" items={inProgress} />
      <Section title="Favourites" items={starred} />
      {overview.repositories.length > 0 &&
        overview.groups.map((group) => <GroupSection key={group.id} group={group} all={overview.repositories} />)}
      {overview.truncated && <p class="note">Only the first repositories are shown. Search finds the others.</p>}
      <Section title="Recently built" items={recent} />
    </div>
  );
}

function sum(counts: Readonly<Record<string, number>>): number {
  return Object.values(counts).reduce((total, count) => total + count, 0);
}

/** The next step of an account whose groups are empty. */
function FirstRepository({ groups }: { groups: readonly GroupItem[] }): JSX.Element {
  const [first] = groups;
  return (
    <Empty title="Add your first repository">
      <p>
        Coppice runs the branches, tags and pull requests of a Git repository, each at an address of its own.
        Repositories belong to a group, whose members see them; an account starts with a group of its own.
      </p>
      <ul class="stack-small">
        {groups.map((group) => (
          <li key={group.id}>
            <a class={`button ${group === first ? 'primary' : ''}`} href={`${groupPage(group.id)}?add=1`}>
              Add a repository to <span class="isolate">{visibleText(group.name)}</span>
            </a>
          </li>
        ))}
      </ul>
      {first && <Command text={`coppice repo add --group ${first.id}`} />}
    </Empty>
  );
}

function GroupSection({ group, all }: { group: GroupItem; all: readonly CountedRepository[] }): JSX.Element {
  const repositories = all.filter(({ gid }) => gid === group.id);
  return (
    <section>
      <div class="section-head">
        <h2>
          <a href={groupPage(group.id)} class="isolate">
            {visibleText(group.name)}
          </a>
        </h2>
        <a href={groupPage(group.id, 'members')}>
          Members<span class="visually-hidden"> of {group.name}</span>
        </a>
      </div>
      {repositories.length === 0 ? (
        <p class="muted">
          No repositories yet. <a href={`${groupPage(group.id)}?add=1`}>Add a repository</a>
        </p>
      ) : (
        <ul class="repository-grid">
          {repositories.map((repository) => (
            <li key={repository.id}>
              <RepositoryCard repository={repository} href={repositoryPage(repository.id)} />
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}

/** Returns the newest known state of each environment, the most urgent first. */
function currentItems(read: readonly EnvironmentItem[]): EnvironmentItem[] {
  const known = environments.value;
  return read
    .filter(({ id }) => !deleted.value.has(id))
    .map((item) => {
      const newest = known.get(item.id);
      return newest && newest.version > item.version ? newest : item;
    })
    .sort(byUrgency);
}

/** The first environments; a button shows the others. @param props.total number of environments, if not all were read */
function Section({
  title,
  items,
  total = items.length,
}: {
  title: string;
  items: readonly EnvironmentItem[];
  total?: number;
}): JSX.Element | null {
  const isWhole = useSignal(false);
  if (items.length === 0) return null;
  const shown = isWhole.value ? items : items.slice(0, maxAtFirst);
  const unread = total - items.length;
  return (
    <section>
      <div class="section-head">
        <h2>
          {title} <span class="count figures">{total}</span>
        </h2>
      </div>
      <EnvironmentRows items={shown} withRepository label={title} />
      {shown.length < items.length && (
        <button type="button" class="ghost" onClick={() => (isWhole.value = true)}>
          Show {items.length - shown.length} more
        </button>
      )}
      {isWhole.value && unread > 0 && <p class="muted">{unread} more are in the lists of their repositories.</p>}
    </section>
  );
}

function Count({ state, count, text }: { state: string; count: number; text: string }): JSX.Element {
  return (
    <span class={count > 0 ? `summary-count state-${state}` : 'summary-count is-zero'}>
      <b>{count}</b> {text}
    </span>
  );
}

function CreateGroup({ onClose }: { onClose: () => void }): JSX.Element {
  const { route } = useLocation();
  const name = useSignal('');
  const isShown = useIsShown();
  const action = useAction(async () => {
    const group = await send<GroupView>('POST', '/api/groups', { body: { name: name.value } });
    if (isShown()) route(groupPage(group.id));
    else notify(`Created ${group.id}.`);
  });
  return (
    <Dialog title="Create a group" onClose={onClose}>
      <Form
        action={action}
        verb="Create"
        more={
          <button type="button" onClick={onClose}>
            Cancel
          </button>
        }
      >
        <TextField
          label="Name"
          name="name"
          value={name.value}
          onInput={(text) => (name.value = text)}
          hint="The id of the group is derived from it and does not change."
          isRequired
          hasFocus
        />
      </Form>
    </Dialog>
  );
}
