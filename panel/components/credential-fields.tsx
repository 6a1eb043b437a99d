import type { ComponentChildren, JSX } from 'preact';
import { TextField } from './form.tsx';

interface CredentialFieldProps {
  value: string;
  onInput: (value: string) => void;
  hasFocus?: boolean;
}

export function EmailField(props: CredentialFieldProps): JSX.Element {
  return <TextField label="E-mail address" name="email" type="email" autocomplete="username" isRequired {...props} />;
}

interface PasswordFieldProps extends CredentialFieldProps {
  label?: string;
  name?: string;
  /** Whether the password is chosen here. */
  isNew?: boolean;
  isRequired?: boolean;
  hint?: ComponentChildren;
}

/** A field that password managers fill, or store if the password is new. */
export function PasswordField({ label = 'Password', name = 'password', isNew = false, ...more }: PasswordFieldProps) {
  const autocomplete = isNew ? 'new-password' : 'current-password';
  return <TextField label={label} name={name} type="password" autocomplete={autocomplete} isRequired {...more} />;
}
