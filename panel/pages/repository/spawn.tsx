import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { useLocation } from 'preact-iso/router';
import { send } from '../../api/client.ts';
import type { EnvironmentItem } from '../../api/items.ts';
import { environmentPage, repositoryPath } from '../../api/paths.ts';
import type { GitRef, SpawnedView } from '../../api/types.ts';
import { Dialog } from '../../components/dialog.tsx';
import { CheckField, Form, SelectField, TextField } from '../../components/form.tsx';
import { RefField } from '../../components/ref-field.tsx';
import { useAction, useIsShown } from '../../state/action.ts';
import { notify } from '../../state/notices.ts';
import { useQuery } from '../../state/page.ts';
import { bareName, refsOf, typeOfName } from '../../view/ref-choice.ts';
import { parseDuration } from '../../view/time.ts';
import { visibleText } from '../../view/visible-text.ts';
import { RequestError } from '../../api/errors.ts';

const types = [
  ['branch', 'Branch'],
  ['pull request', 'Pull request'],
  ['tag', 'Tag'],
] as const;

/** Creates an environment of a ref, which the user chooses from the refs of the repository. */
export function Spawn({ repository, onClose }: { repository: string; onClose: () => void }): JSX.Element {
  const { route } = useLocation();
  const { query } = useQuery();
  const known = useSignal<readonly EnvironmentItem[]>([]);
  const chosen = useSignal<EnvironmentItem | undefined>(undefined);
  const type = useSignal<GitRef['type']>(types.find(([one]) => one === query['type'])?.[0] ?? 'branch');
  const ref = useSignal(query['spawn'] === '1' ? '' : (query['spawn'] ?? ''));
  const name = useSignal('');
  const ttl = useSignal('');
  const isReused = useSignal(true);
  const isShown = useIsShown();
  const action = useAction(async () => {
    const seconds = ttl.value.trim() === '' ? undefined : parseDuration(ttl.value);
    if (ttl.value.trim() !== '' && seconds === undefined) {
      const details = [{ path: 'ttl', message: 'must be a duration, such as 12h or 7d' }];
      throw new RequestError(422, 'the time to live is not valid', details);
    }
    const body = {
      gitRef: { name: bareName(ref.value), type: type.value },
      ...(name.value.trim() !== '' && { name: name.value }),
      ...(seconds !== undefined && { ttl: seconds }),
      ifExists: isReused.value ? 'reuse' : 'create',
    };
    const spawned = await send<SpawnedView>('POST', `${repositoryPath(repository)}/spawn`, { body });
    if (isShown()) route(environmentPage(spawned.id), true);
    else notify(`Spawned ${spawned.id}.`);
  });
  const existing = known.value.find(({ gitRef }) => gitRef.type === type.value && gitRef.name === bareName(ref.value));
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
        <RefField
          repository={repository}
          value={ref.value}
          onInput={(text) => {
            ref.value = text;
            chosen.value = undefined;
          }}
          onChoose={(item) => {
            ref.value = item.gitRef.name;
            type.value = item.gitRef.type;
            chosen.value = item;
          }}
          onFound={(items) => {
            known.value = refsOf(items);
            const only = typeOfName(items, ref.value);
            if (only !== undefined && chosen.value === undefined) type.value = only;
          }}
        />
        <SelectField
          label="Type of ref"
          name="gitRef.type"
          value={type.value}
          options={types}
          onInput={(value) => (type.value = value)}
        />
        {existing && existing.status !== 'empty' && (
          <p class="note">
            <span>
              This ref has the environment <a href={environmentPage(existing.id)}>{visibleText(existing.name)}</a>{' '}
              already.{' '}
              {isReused.value
                ? 'Its newest commit is built if it is not deployed yet.'
                : 'Another one is created beside it, with volumes and an address of its own.'}
            </span>
          </p>
        )}
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
            hint="For people; optional."
          />
        )}
        <TextField
          label="Time to live"
          name="ttl"
          value={ttl.value}
          onInput={(text) => (ttl.value = text)}
          placeholder="as in the repository's settings"
          hint="After it the contents are deleted: 12h, 7d, or 0 for none."
        />
      </Form>
    </Dialog>
  );
}
