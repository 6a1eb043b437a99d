import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { useId } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import { send } from '../../api/client.ts';
import type { EnvironmentPage } from '../../api/items.ts';
import { environmentPage, repositoryPath } from '../../api/paths.ts';
import type { GitRef, SpawnedView } from '../../api/types.ts';
import { Dialog } from '../../components/dialog.tsx';
import { CheckField, Field, Form, SelectField, TextField } from '../../components/form.tsx';
import { useAction } from '../../state/action.ts';
import { useQuery } from '../../state/page.ts';
import { useResource } from '../../state/resource.ts';
import { parseDuration } from '../../view/time.ts';
import { RequestError } from '../../api/errors.ts';

const types = [
  ['branch', 'Branch'],
  ['pull request', 'Pull request'],
  ['tag', 'Tag'],
] as const;

/** Creates an environment of a ref. The refs that have one already are suggested. */
export function Spawn({ repository, onClose }: { repository: string; onClose: () => void }): JSX.Element {
  const { route } = useLocation();
  const { query } = useQuery();
  const suggestions = useId();
  const known = useResource<EnvironmentPage>(`${repositoryPath(repository)}/environments?limit=200&sort=name`).data
    .value;
  const type = useSignal<GitRef['type']>(types.find(([one]) => one === query['type'])?.[0] ?? 'branch');
  const ref = useSignal(query['spawn'] === '1' ? '' : (query['spawn'] ?? ''));
  const name = useSignal('');
  const ttl = useSignal('');
  const isReused = useSignal(true);
  const action = useAction(async () => {
    const seconds = ttl.value.trim() === '' ? undefined : parseDuration(ttl.value);
    if (ttl.value.trim() !== '' && seconds === undefined) {
      const details = [{ path: 'ttl', message: 'must be a duration, such as 12h or 7d' }];
      throw new RequestError(422, 'the time to live is not valid', details);
    }
    const body = {
      gitRef: { name: ref.value.trim(), type: type.value },
      ...(name.value.trim() !== '' && { name: name.value }),
      ...(seconds !== undefined && { ttl: seconds }),
      ifExists: isReused.value ? 'reuse' : 'create',
    };
    const spawned = await send<SpawnedView>('POST', `${repositoryPath(repository)}/spawn`, { body });
    route(environmentPage(spawned.id), true);
  });
  const refs = new Set(
    (known?.items ?? []).filter(({ gitRef }) => gitRef.type === type.value).map((item) => item.gitRef.name),
  );
  return (
    <Dialog title="Spawn an environment" onClose={onClose}>
      <Form
        action={action}
        verb="Spawn"
        more={
          <button type="button" onClick={onClose}>
            Cancel
          </button>
        }
      >
        <SelectField
          label="Type of ref"
          name="gitRef.type"
          value={type.value}
          options={types}
          onInput={(value) => (type.value = value)}
        />
        <Field
          label={type.value === 'pull request' ? 'Number of the pull request' : 'Ref'}
          name="gitRef.name"
          action={action}
          hint={type.value === 'branch' ? 'Short, without refs/heads/.' : undefined}
        >
          {(control) => (
            <input
              {...control}
              list={suggestions}
              value={ref.value}
              required
              autofocus
              autocomplete="off"
              spellcheck={false}
              class="monospace"
              onInput={(event) => (ref.value = event.currentTarget.value)}
            />
          )}
        </Field>
        <datalist id={suggestions}>
          {[...refs].map((one) => (
            <option key={one} value={one} />
          ))}
        </datalist>
        <CheckField
          label="Use the existing environment of this ref, if there is one"
          isChecked={isReused.value}
          onInput={(value) => (isReused.value = value)}
        />
        {!isReused.value && (
          <TextField
            label="Name"
            name="name"
            value={name.value}
            onInput={(text) => (name.value = text)}
            action={action}
            hint="For people; optional."
          />
        )}
        <TextField
          label="Time to live"
          name="ttl"
          value={ttl.value}
          onInput={(text) => (ttl.value = text)}
          action={action}
          placeholder="as in the repository's settings"
          hint="After it the contents are deleted: 12h, 7d, or 0 for none."
        />
      </Form>
    </Dialog>
  );
}
