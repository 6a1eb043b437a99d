import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { send } from '../../api/client.ts';
import { repositoryPath } from '../../api/paths.ts';
import type { GitRef, RepositoryHead, RepositorySettingsView } from '../../api/types.ts';
import { Confirm } from '../../components/confirm.tsx';
import { ErrorNote } from '../../components/error-note.tsx';
import { Form, SelectField, TextField } from '../../components/form.tsx';
import { Ago } from '../../components/times.tsx';
import { useAction } from '../../state/action.ts';
import { notify } from '../../state/notices.ts';
import { useQuery } from '../../state/page.ts';
import { resourceOf } from '../../state/resource.ts';
import type { SettingsProps } from './settings-props.ts';

const types = [
  ['branch', 'Branch'],
  ['tag', 'Tag'],
  ['pull request', 'Pull request'],
] as const;

/** Which refs can publish their volumes for other environments, and what is published. */
export function ReusableEnvironments({
  repository,
  settings,
  save,
}: SettingsProps & { repository: RepositoryHead }): JSX.Element {
  const { query, setQuery } = useQuery();
  const allowed = settings.reusable ?? [];
  const label = useSignal('');
  const ref = useSignal('');
  const type = useSignal<GitRef['type']>('branch');
  // The API replaces the whole list, which others may have changed since the page was opened.
  const readAllowed = async () =>
    (await send<RepositorySettingsView>('GET', `${repositoryPath(repository.id)}/settings`)).reusable ?? [];
  const action = useAction(async () => {
    const added = { name: ref.value.trim(), type: type.value };
    const current = await readAllowed();
    const known = current.find((one) => one.label === label.value.trim());
    const others = current.filter((one) => one !== known);
    await save({ reusable: [...others, { label: label.value.trim(), refs: [...(known?.refs ?? []), added] }] });
    label.value = '';
    ref.value = '';
  });
  const removed = useSignal('');
  const remove = useAction(async () => {
    const current = await readAllowed();
    await save({ reusable: current.filter((one) => one.label !== removed.value) });
  });
  const chosen = query['name'] ?? '';
  return (
    <section class="stack-small">
      <h2>Reusable environments</h2>
      <p class="muted">
        An environment of an allowed ref publishes copies of its volumes under a label. Service files of others name the
        label to start with that data.
      </p>
      {(repository.reusableEnvironments.length > 0 || allowed.length > 0) && (
        <ul class="card">
          {allowed.map((one) => (
            <li key={`allowed ${one.label}`} class="setting-row">
              <span>
                <code>{one.label}</code> <span class="muted">can be published by</span>{' '}
                <span class="isolate">{one.refs.map(({ name }) => name).join(', ')}</span>
              </span>
              <button
                type="button"
                class="ghost"
                aria-label={`Remove ${one.label}`}
                onClick={() => {
                  removed.value = one.label;
                  remove.run();
                }}
              >
                Remove
              </button>
            </li>
          ))}
          {repository.reusableEnvironments.map((one) => (
            <li key={`published ${one.label}`} class="setting-row">
              <span>
                <code>{one.label}</code> <span class="muted">published by {one.from.name}</span>{' '}
                <Ago at={Date.parse(one.buildAt) / 1000} />
              </span>
              <button
                type="button"
                class="ghost danger-text"
                aria-label={`Delete ${one.label}`}
                onClick={() => setQuery({ dialog: 'delete-reusable', name: one.label })}
              >
                Delete
              </button>
            </li>
          ))}
        </ul>
      )}
      <ErrorNote error={remove.error.value} />
      <Form action={action} verb="Allow" label="Reusable environment">
        <div class="form-row">
          <TextField
            label="Label"
            name="reusable"
            value={label.value}
            onInput={(text) => (label.value = text)}
            isRequired
          />
          <SelectField
            label="Type"
            name="type"
            value={type.value}
            options={types}
            onInput={(value) => (type.value = value)}
          />
          <TextField
            label="Ref"
            name="ref"
            value={ref.value}
            onInput={(text) => (ref.value = text)}
            isRequired
            isMonospace
          />
        </div>
      </Form>
      {query['dialog'] === 'delete-reusable' && chosen !== '' && (
        <Confirm
          title="Delete the reusable environment"
          verb="Delete"
          act={async () => {
            await send('DELETE', `${repositoryPath(repository.id)}/reusable/${encodeURIComponent(chosen)}`);
            resourceOf(`${repositoryPath(repository.id)}?environments=false`).invalidate();
            notify('Deletion requested.');
          }}
          onClose={() => setQuery({ dialog: undefined, name: undefined })}
        >
          <p>
            Deletes the published volumes of <code>{chosen}</code>. Environments that started with them keep their own
            copies.
          </p>
        </Confirm>
      )}
    </section>
  );
}
