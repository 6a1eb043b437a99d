import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { useLocation } from 'preact-iso/router';
import { send } from '../../api/client.ts';
import { RequestError } from '../../api/errors.ts';
import { groupPage, repositoryPath } from '../../api/paths.ts';
import type { RepositoryHead, RepositorySettingsView } from '../../api/types.ts';
import { AccessForm } from '../../components/access-form.tsx';
import { Confirm } from '../../components/confirm.tsx';
import { LoadError, Skeleton } from '../../components/error-note.tsx';
import { CheckField, Form, SelectField, TextField } from '../../components/form.tsx';
import { Sections, type Section } from '../../components/sections.tsx';
import { SleepForm } from '../../components/sleep-settings.tsx';
import { useAction } from '../../state/action.ts';
import { notify } from '../../state/notices.ts';
import { useQuery } from '../../state/page.ts';
import { resourceOf, useDataToEdit, useResource } from '../../state/resource.ts';
import { durationText, parseDuration } from '../../view/time.ts';
import { ReusableEnvironments } from './reusable.tsx';
import { Rules } from './rules.tsx';
import type { SettingsProps } from './settings-props.ts';
import { Webhook } from './webhook.tsx';

type Settings = RepositorySettingsView;
type RebuildMode = Settings['scheduledRebuild']['mode'];

const rebuildModes: readonly (readonly [RebuildMode, string])[] = [
  ['disabled', 'Never'],
  ['all', 'Every environment with contents'],
  ['notclones', 'The oldest environment of each ref'],
  ['reusables', 'Environments that publish a reusable environment'],
];

export function RepositorySettings({ repository }: { repository: RepositoryHead }): JSX.Element {
  const { id } = repository;
  const path = `${repositoryPath(id)}/settings`;
  const resource = useResource<Settings>(path);
  const settings = useDataToEdit(resource);
  const error = resource.error.value;
  if (!settings) {
    if (error) return <LoadError error={error} retry={() => void resource.reload()} what="settings" />;
    return <Skeleton what="settings" lines={10} />;
  }
  const save = async (body: object) => {
    const changed = await send<Settings>('POST', path, { body });
    resourceOf<Settings>(path).set(changed);
    notify('Saved.');
  };
  const given = { settings, save };
  const sections: Section[] = [
    { id: 'name', title: 'Name', content: <Rename repository={repository} /> },
    { id: 'time-to-live', title: 'Time to live', content: <Lifetime {...given} /> },
    { id: 'access', title: 'Access to environments', content: <Access {...given} /> },
    { id: 'rebuild', title: 'Scheduled rebuild', content: <Schedule {...given} /> },
    { id: 'sleep', title: 'Sleep', content: <SleepForm settings={settings.sleep} save={(sleep) => save({ sleep })} /> },
    { id: 'sync', title: 'Synchronization', content: <SyncSettings {...given} /> },
    { id: 'forks', title: 'Pull requests from forks', content: <Forks {...given} /> },
    { id: 'rules', title: 'Environments by rule', content: <Rules repository={repository} {...given} /> },
    { id: 'webhook', title: 'Webhook', content: <Webhook settings={settings} /> },
    {
      id: 'reusable',
      title: 'Reusable environments',
      content: <ReusableEnvironments repository={repository} {...given} />,
    },
    { id: 'delete', title: 'Delete the repository', content: <Delete repository={repository} /> },
  ];
  return <Sections sections={sections} label="Settings" />;
}

function Rename({ repository }: { repository: RepositoryHead }): JSX.Element {
  const name = useSignal(repository.name);
  const action = useAction(async () => {
    await send('POST', repositoryPath(repository.id), { body: { name: name.value } });
    resourceOf(`${repositoryPath(repository.id)}?environments=false`).invalidate();
    notify('Renamed the repository.');
  });
  return (
    <section class="stack-small">
      <h2>Name</h2>
      <Form action={action} verb="Rename" label="Name">
        <TextField
          label="Name"
          name="name"
          value={name.value}
          onInput={(text) => (name.value = text)}
          hint={`The id ${repository.id} does not change.`}
          isRequired
        />
      </Form>
    </section>
  );
}

function Lifetime({ settings, save }: SettingsProps): JSX.Element {
  const ttl = useSignal(settings.environmentTTL === undefined ? '' : durationText(settings.environmentTTL));
  const action = useAction(async () => {
    const seconds = ttl.value.trim() === '' ? 0 : parseDuration(ttl.value);
    if (seconds === undefined) {
      const details = [{ path: 'environmentTTL', message: 'must be a duration, such as 12h or 7d' }];
      throw new RequestError(422, 'the time to live is not valid', details);
    }
    await save({ environmentTTL: seconds });
  });
  return (
    <section class="stack-small">
      <h2>Time to live</h2>
      <Form action={action} verb="Save" label="Time to live">
        <TextField
          label="Time to live of new environments"
          name="environmentTTL"
          value={ttl.value}
          onInput={(text) => (ttl.value = text)}
          placeholder="none"
          hint="After it the contents of an environment are deleted: 12h or 7d. Empty for none."
        />
      </Form>
    </section>
  );
}

function Access({ settings, save }: SettingsProps): JSX.Element {
  return (
    <section class="stack-small">
      <h2>Access to environments</h2>
      <AccessForm
        own={settings.access}
        hasPassword={settings.hasAccessPassword ?? false}
        fallback="As in the installation"
        save={save}
      />
    </section>
  );
}

function Schedule({ settings: { scheduledRebuild }, save }: SettingsProps): JSX.Element {
  const mode = useSignal<RebuildMode>(scheduledRebuild.mode);
  const hour = useSignal(scheduledRebuild.hour);
  const timeZone = useSignal(scheduledRebuild.timeZone);
  const action = useAction(() =>
    save({ scheduledRebuild: { mode: mode.value, hour: hour.value, timeZone: timeZone.value } }),
  );
  return (
    <section class="stack-small">
      <h2>Scheduled rebuild</h2>
      <Form action={action} verb="Save" label="Scheduled rebuild">
        <SelectField
          label="Rebuild each day"
          name="scheduledRebuild.mode"
          value={mode.value}
          options={rebuildModes}
          onInput={(value) => (mode.value = value)}
          hint="A rebuild deletes the contents with their volumes, and builds without cache."
        />
        {mode.value !== 'disabled' && (
          <>
            <TextField
              label="Time of day"
              name="scheduledRebuild.hour"
              type="time"
              value={hour.value}
              onInput={(text) => (hour.value = text)}
              isRequired
            />
            <TextField
              label="Time zone"
              name="scheduledRebuild.timeZone"
              value={timeZone.value}
              onInput={(text) => (timeZone.value = text)}
              hint="A name of the IANA time zone database, such as Europe/Berlin."
              isRequired
            />
          </>
        )}
      </Form>
    </section>
  );
}

function SyncSettings({ settings, save }: SettingsProps): JSX.Element {
  const interval = useSignal(settings.sync.intervalSeconds === undefined ? '' : String(settings.sync.intervalSeconds));
  const tags = useSignal(String(settings.sync.newestTags));
  const autoBuild = useSignal(settings.autoBuild);
  const isDeleted = useSignal(settings.onRefGone === 'delete');
  const action = useAction(() =>
    save({
      sync: { intervalSeconds: interval.value === '' ? null : interval.value, newestTags: tags.value },
      autoBuild: autoBuild.value,
      onRefGone: isDeleted.value ? 'delete' : 'keep',
    }),
  );
  return (
    <section class="stack-small">
      <h2>Synchronization with the Git host</h2>
      <Form action={action} verb="Save" label="Synchronization">
        <CheckField
          label="Build new commits in environments with contents"
          isChecked={autoBuild.value}
          onInput={(value) => (autoBuild.value = value)}
        />
        <CheckField
          label="Delete environments of deleted refs and closed pull requests"
          isChecked={isDeleted.value}
          onInput={(value) => (isDeleted.value = value)}
        />
        <TextField
          label="Newest tags that get an environment"
          name="sync.newestTags"
          type="number"
          value={tags.value}
          onInput={(text) => (tags.value = text)}
          hint="0 to 100."
        />
        <TextField
          label="Seconds between two syncs"
          name="sync.intervalSeconds"
          type="number"
          value={interval.value}
          onInput={(text) => (interval.value = text)}
          placeholder="as in the installation"
        />
      </Form>
    </section>
  );
}

type Approval = '' | NonNullable<Settings['forks']['approval']>;

const approvals: readonly (readonly [Approval, string])[] = [
  ['', 'As in the installation'],
  ['required', 'Each commit waits for the approval of a member'],
  ['notRequired', 'Commits are built without an approval'],
];

function Forks({ settings, save }: SettingsProps): JSX.Element {
  const approval = useSignal<Approval>(settings.forks.approval ?? '');
  const canInclude = useSignal(settings.forks.canInclude === true);
  const action = useAction(() =>
    save({
      forks: { approval: approval.value === '' ? null : approval.value, canInclude: canInclude.value },
    }),
  );
  return (
    <section class="stack-small">
      <h2>Pull requests from forks</h2>
      <Form action={action} verb="Save" label="Pull requests from forks">
        <SelectField
          label="Approval"
          name="forks.approval"
          value={approval.value}
          options={approvals}
          onInput={(value) => (approval.value = value)}
          hint="Until then nothing of the commit is read, built or run."
        />
        <CheckField
          label="Forks of other repositories of the group can include this one"
          isChecked={canInclude.value}
          onInput={(value) => (canInclude.value = value)}
        />
      </Form>
    </section>
  );
}

function Delete({ repository }: { repository: RepositoryHead }): JSX.Element {
  const { query, setQuery } = useQuery();
  const { route } = useLocation();
  return (
    <section class="stack-small">
      <h2>Delete the repository</h2>
      <p class="muted">
        Deletes its environments with their contents, and its credentials. The Git repository is not changed.
      </p>
      <div>
        <button type="button" class="danger" onClick={() => setQuery({ dialog: 'delete-repository' })}>
          Delete the repository
        </button>
      </div>
      {query['dialog'] === 'delete-repository' && (
        <Confirm
          title="Delete the repository"
          verb="Delete the repository"
          act={async () => {
            await send('DELETE', repositoryPath(repository.id));
            notify('Deletion requested.');
          }}
          onDone={() => route(groupPage(repository.gid))}
          onClose={() => setQuery({ dialog: undefined })}
        >
          <p>
            Deletes <b class="isolate">{repository.name}</b> with all its environments, volumes and settings. The Git
            repository is not changed.
          </p>
        </Confirm>
      )}
    </section>
  );
}
