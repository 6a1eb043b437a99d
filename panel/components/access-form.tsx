import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import type { EnvironmentView } from '../api/types.ts';
import { useAction } from '../state/action.ts';
import { PasswordField } from './credential-fields.tsx';
import { Form, SelectField } from './form.tsx';

type Mode = EnvironmentView['access'];

export const ACCESS_TEXTS: Readonly<Record<Mode, string>> = {
  public: 'Everybody who knows the address',
  password: 'Whoever knows a password',
  members: 'Members of the group',
};
const modes = (Object.keys(ACCESS_TEXTS) as Mode[]).map((mode) => [mode, ACCESS_TEXTS[mode]] as const);

export interface AccessFormProps {
  own: Mode | undefined;
  hasPassword: boolean;
  /** What applies without a choice. */
  fallback: string;
  /** Saves the choice. @throws RequestError */
  save: (body: { access: Mode | null; accessPassword?: string }) => Promise<void>;
}

/** Chooses who can open environments. */
export function AccessForm({ own, hasPassword, fallback, save }: AccessFormProps): JSX.Element {
  const mode = useSignal<Mode | 'default'>(own ?? 'default');
  const password = useSignal('');
  const action = useAction(async () => {
    const chosen = mode.value === 'default' ? null : mode.value;
    await save({ access: chosen, ...(password.value !== '' && { accessPassword: password.value }) });
    password.value = '';
  });
  return (
    <Form action={action} verb="Save" label="Who can open it">
      <SelectField
        label="Who can open the addresses"
        name="access"
        value={mode.value}
        options={[['default', fallback], ...modes]}
        onInput={(value) => (mode.value = value)}
        hint="Only owners of the group can change this."
      />
      {mode.value === 'password' && (
        <PasswordField
          label="Password for visitors"
          name="accessPassword"
          value={password.value}
          onInput={(text) => (password.value = text)}
          isNew
          isRequired={!hasPassword}
          hint={
            hasPassword
              ? 'Empty: keep the present one. A new one ends the visits of all who entered the old one.'
              : '8 to 200 characters.'
          }
        />
      )}
    </Form>
  );
}
