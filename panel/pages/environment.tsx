import type { JSX } from 'preact';
import { useRoute } from 'preact-iso/router';
import type { EnvironmentView } from '../api/types.ts';
import { environmentPage, groupOf, groupPage, readEnvironmentPath, repositoryPage } from '../api/paths.ts';
import { LoadError, Skeleton } from '../components/error-note.tsx';
import { currentTab, Tabs } from '../components/tabs.tsx';
import { useBreadcrumbs } from '../state/breadcrumbs.ts';
import { useQuery, useTitle } from '../state/page.ts';
import { useResource } from '../state/resource.ts';
import { session } from '../state/session.ts';
import { shownState } from '../view/shown-state.ts';
import { Approval } from './environment/approval.tsx';
import { Asleep } from './environment/asleep.tsx';
import { Builds } from './environment/builds.tsx';
import { Events } from './environment/events.tsx';
import { Expired } from './environment/expired.tsx';
import { Head } from './environment/head.tsx';
import { EnvironmentLogs } from './environment/logs.tsx';
import { Services } from './environment/services.tsx';
import { EnvironmentSettings } from './environment/settings.tsx';
import { Shell } from './environment/shell.tsx';
import { Tests } from './environment/tests.tsx';
import { Variables } from './environment/variables.tsx';
import { WhyCard } from './environment/why-card.tsx';
import { visibleText } from '../view/visible-text.ts';

/** An environment: its address, why it is not ready, its builds, services and logs. */
export default function EnvironmentPage(): JSX.Element {
  const { params } = useRoute();
  const id = params['id'] ?? '';
  return <Environment key={id} id={id} />;
}

function Environment({ id }: { id: string }): JSX.Element {
  const { query, hrefWith } = useQuery();
  const resource = useResource<EnvironmentView>(readEnvironmentPath(id));
  const environment = resource.data.value;
  const ref = visibleText(environment?.gitRef.name ?? nameOf(id));
  const repository = environment?.rid ?? '';
  useTitle(environment ? `${repository.replace('.', '/')} ${ref}` : id, environment && shownState(environment));
  const hasShell = session.value.kind === 'signed-in' && session.value.user.shell === true;
  const tabs = [
    { id: 'logs', text: 'Logs', href: hrefWith({ tab: undefined }) },
    { id: 'events', text: 'Events', href: environmentPage(id, 'events') },
    { id: 'variables', text: 'Variables', href: environmentPage(id, 'variables') },
    { id: 'tests', text: 'Tests', href: environmentPage(id, 'tests') },
    ...(hasShell ? [{ id: 'shell', text: 'Shell', href: environmentPage(id, 'shell') }] : []),
    { id: 'settings', text: 'Settings', href: environmentPage(id, 'settings') },
  ];
  const tab = currentTab(tabs, query['tab']);
  const logs = { id: 'logs', text: 'Logs', href: environmentPage(id) };
  useBreadcrumbs(
    [
      { text: groupOf(id), href: groupPage(groupOf(id)) },
      ...(environment ? [{ text: nameOf(repository), href: repositoryPage(repository) }] : []),
      { text: ref, href: environmentPage(id) },
    ],
    true,
  );
  if (!environment) {
    const error = resource.error.value;
    if (error) return <LoadError error={error} retry={() => void resource.reload()} what="environment" />;
    return <Skeleton what="the environment" lines={10} />;
  }
  return (
    <div class="stack">
      <Head environment={environment} />
      <Approval environment={environment} />
      <WhyCard environment={environment} />
      <Asleep environment={environment} />
      <Expired environment={environment} />
      <Builds environment={environment} />
      <Services environment={environment} />
      <div class="stack-small">
        <Tabs tabs={[logs, ...tabs.slice(1)]} current={tab} label="Environment" />
        {tab === 'logs' && <EnvironmentLogs environment={environment} />}
        {tab === 'events' && <Events id={id} />}
        {tab === 'variables' && <Variables environment={environment} />}
        {tab === 'tests' && <Tests environment={environment} />}
        {tab === 'shell' && <Shell environment={environment} />}
        {tab === 'settings' && <EnvironmentSettings environment={environment} />}
      </div>
    </div>
  );
}

/** Returns the name in an id: `shop` of `acme.shop`. */
function nameOf(id: string): string {
  return id.slice(id.indexOf('.') + 1);
}
