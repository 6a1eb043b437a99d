import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { send } from '../api/client.ts';
import type { VariableView } from '../api/types.ts';
import { useAction, useIsShown } from '../state/action.ts';
import { notify } from '../state/notices.ts';
import { useQuery } from '../state/page.ts';
import { Confirm } from './confirm.tsx';
import { Command } from './copy.tsx';
import { Dialog } from './dialog.tsx';
import { Empty } from './error-note.tsx';
import { CheckField, Field, Form, SelectField, TextField } from './form.tsx';
import { Icon } from './icons.tsx';
import { SecretValue } from './secret-value.tsx';
import { Table } from './table.tsx';

type Owner = 'group' | 'repository' | 'environment';

export interface VariablesEditorProps {
  variables: readonly VariableView[];
  /** Path of the owner in the API. */
  path: string;
  /** ID of the owner. */
  id: string;
  of: Owner;
  onChange: () => void;
}

const scopes: Record<Owner, string> = {
  group: ' of all repositories of the group',
  repository: '; they override those of the group',
  environment: '; these override those of the repository and the group in this environment alone',
};

/** Options of the command line. */
const options: Record<Owner, string> = { group: 'group', repository: 'repo', environment: 'env' };

/** The variables of a group, repository or environment: added, changed and deleted. */
export function VariablesEditor({ variables, path, id, of, onChange }: VariablesEditorProps): JSX.Element {
  const { query, setQuery } = useQuery();
  const close = () => setQuery({ dialog: undefined, name: undefined });
  const chosen = variables.find(({ name }) => name === query['name']);
  const add = () => setQuery({ dialog: 'variable' });
  return (
    <div class="stack-small">
      <div class="spread">
        <p class="muted">
          Variables replace <code>{'${NAME}'}</code> in service files
          {scopes[of]}. A new value takes effect with the next build.
        </p>
        {variables.length > 0 && (
          <button type="button" onClick={add}>
            <Icon name="plus" /> Add a variable
          </button>
        )}
      </div>
      {variables.length === 0 ? (
        <Empty title="No variables yet">
          <button type="button" class="primary" onClick={add}>
            Add a variable
          </button>
          <Command text={`coppice vars set GREETING=hello --${options[of]} ${id}`} />
        </Empty>
      ) : (
        <Table columns={['Name', 'Value', 'Visibility']} hasActions>
          {variables.map((variable) => (
            <tr key={variable.name}>
              <td>
                <code>{variable.name}</code>
              </td>
              <td>
                <SecretValue
                  name={variable.name}
                  value={variable.value}
                  isSecret={variable.secret}
                  isWithheld={variable.withheld}
                  error={variable.error}
                />
              </td>
              <td class="muted">{variable.visibility === 'buildtime' ? 'builds only' : 'always'}</td>
              <td class="actions">
                <button
                  type="button"
                  class="ghost"
                  aria-label={`Change ${variable.name}`}
                  onClick={() => setQuery({ dialog: 'variable', name: variable.name })}
                >
                  Change
                </button>
                <button
                  type="button"
                  class="ghost danger-text"
                  aria-label={`Delete ${variable.name}`}
                  onClick={() => setQuery({ dialog: 'delete-variable', name: variable.name })}
                >
                  Delete
                </button>
              </td>
            </tr>
          ))}
        </Table>
      )}
      {query['dialog'] === 'variable' && (
        <EditVariable variable={chosen} path={path} onClose={close} onChange={onChange} />
      )}
      {query['dialog'] === 'delete-variable' && chosen && (
        <Confirm
          title="Delete the variable"
          verb="Delete"
          act={async () => {
            await send('DELETE', `${path}/variables/${encodeURIComponent(chosen.name)}`);
            notify(`Deleted ${chosen.name}.`);
            onChange();
          }}
          onClose={close}
        >
          <p>
            Deletes <code>{chosen.name}</code> of this {of}.{' '}
            {of === 'environment'
              ? 'It keeps the value until its next build.'
              : 'Environments keep its value until their next build.'}
          </p>
        </Confirm>
      )}
    </div>
  );
}

const visibilities = [
  ['always', 'Always: builds and running services'],
  ['buildtime', 'Builds only'],
] as const;

function EditVariable({
  variable,
  path,
  onClose,
  onChange,
}: {
  variable: VariableView | undefined;
  path: string;
  onClose: () => void;
  onChange: () => void;
}): JSX.Element {
  const name = useSignal(variable?.name ?? '');
  const value = useSignal(variable?.value ?? '');
  const visibility = useSignal<VariableView['visibility']>(variable?.visibility ?? 'always');
  const isSecret = useSignal(variable?.secret === true);
  const isShown = useIsShown();
  // The value of a secret and of a variable with an error is not known here: empty, it was not changed.
  const isValueChanged = !variable || value.value !== variable.value;
  const action = useAction(async () => {
    const body = {
      name: name.value.trim(),
      ...(isValueChanged && { value: value.value }),
      visibility: visibility.value,
      ...((isSecret.value || variable?.secret === true) && { secret: isSecret.value }),
    };
    await send(variable ? 'PATCH' : 'POST', `${path}/variables`, { body });
    notify(`Saved ${body.name}. It takes effect with the next build.`);
    onChange();
    if (isShown()) onClose();
  });
  return (
    <Dialog title={variable ? 'Change the variable' : 'Add a variable'} onClose={onClose}>
      <Form
        action={action}
        verb="Save"
        more={
          <button type="button" onClick={onClose}>
            Cancel
          </button>
        }
      >
        {variable ? (
          <p>
            <code>{variable.name}</code>
          </p>
        ) : (
          <TextField
            label="Name"
            name="name"
            value={name.value}
            onInput={(text) => (name.value = text)}
            isMonospace
            isRequired
            hasFocus
          />
        )}
        <Field
          label="Value"
          name="value"
          hint={variable?.secret === true && isSecret.value ? 'Empty keeps the current value.' : undefined}
        >
          {(control) => (
            <textarea
              {...control}
              class="monospace"
              rows={3}
              spellcheck={false}
              autofocus={variable !== undefined}
              value={value.value}
              onInput={(event) => (value.value = event.currentTarget.value)}
            />
          )}
        </Field>
        <SelectField
          label="Visibility"
          name="visibility"
          value={visibility.value}
          options={visibilities}
          onInput={(chosen) => (visibility.value = chosen)}
        />
        <CheckField
          label="Secret"
          isChecked={isSecret.value}
          onInput={(checked) => (isSecret.value = checked)}
          hint="Write-only, and masked in logs."
        />
      </Form>
    </Dialog>
  );
}
