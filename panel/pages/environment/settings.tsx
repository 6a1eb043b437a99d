import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import type { EnvironmentView, RepositorySettingsView } from '../../api/types.ts';
import { send } from '../../api/client.ts';
import { environmentPath, readEnvironmentPath, repositoryPath } from '../../api/paths.ts';
import { Command } from '../../components/copy.tsx';
import { Form } from '../../components/form.tsx';
import { Sections, type Section } from '../../components/sections.tsx';
import { SleepForm } from '../../components/sleep-settings.tsx';
import { Table } from '../../components/table.tsx';
import { Ago } from '../../components/times.tsx';
import { useAction } from '../../state/action.ts';
import { notify } from '../../state/notices.ts';
import { resourceOf, useResource } from '../../state/resource.ts';
import { durationText } from '../../view/time.ts';
import { EnvironmentAccess } from './access.tsx';
import { Overrides } from './overrides.tsx';
import { setTtl, TtlField } from './ttl.tsx';

/** What is set for this environment alone, and the conditions as they are in Kubernetes. */
export function EnvironmentSettings({ environment }: { environment: EnvironmentView }): JSX.Element {
  const { id, conditions, ttl, expiresAt, status } = environment;
  const text = useSignal(ttl === undefined ? '' : durationText(ttl));
  const action = useAction(() => setTtl(id, text.value));
  const ofRepository = useResource<RepositorySettingsView>(`${repositoryPath(environment.rid)}/settings`).data.value;
  const timeToLive = (
    <section class="stack-small">
      <h2>Time to live</h2>
      {status === 'empty' ? (
        <p class="muted">An empty environment has no time to live. Create its contents first.</p>
      ) : (
        <>
          <p>
            {expiresAt === undefined ? (
              'The contents have no time to live.'
            ) : (
              <>
                The contents are deleted <Ago at={expiresAt} />.
              </>
            )}
          </p>
          <Form action={action} verb="Set" label="Time to live">
            <TtlField value={text.value} onInput={(value) => (text.value = value)} />
          </Form>
          <Command text={`coppice env ttl ${id} 12h`} />
        </>
      )}
    </section>
  );
  const sleep = (
    <SleepForm
      settings={environment.settings.sleep}
      ofRepository={{ settings: ofRepository?.sleep }}
      save={async (sleep) => {
        await send('POST', `${environmentPath(id)}/settings`, { body: { sleep } });
        resourceOf(readEnvironmentPath(id)).invalidate();
        notify('Saved when the environment sleeps.');
      }}
    />
  );
  const conditionTable = (
    <section class="stack-small">
      <h2>Conditions</h2>
      {conditions.length === 0 ? (
        <p class="muted">The operator has not reported any yet.</p>
      ) : (
        <Table columns={['Type', 'Status', 'Reason', 'Message']}>
          {conditions.map(({ type, status: value, reason, message }) => (
            <tr key={type}>
              <td>{type}</td>
              <td>{value}</td>
              <td>{reason}</td>
              <td class="isolate">{message}</td>
            </tr>
          ))}
        </Table>
      )}
    </section>
  );
  const sections: Section[] = [
    { id: 'time-to-live', title: 'Time to live', content: timeToLive },
    { id: 'sleep', title: 'Sleep', content: sleep },
    {
      id: 'access',
      title: 'Access',
      content: <EnvironmentAccess environment={environment} ofRepository={ofRepository?.access} />,
    },
    { id: 'overrides', title: 'Overrides', content: <Overrides id={id} /> },
    { id: 'conditions', title: 'Conditions', content: conditionTable },
  ];
  return <Sections sections={sections} label="Settings" />;
}
