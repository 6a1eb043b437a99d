import { createContext, h, type ComponentChildren, type JSX, type TargetedInputEvent } from 'preact';
import { useContext, useId } from 'preact/hooks';
import { faultOf } from '../api/errors.ts';
import type { Action } from '../state/action.ts';
import { ErrorNote } from './error-note.tsx';

/** The action of the form around a field, whose error can concern the field's value. */
const FormAction = createContext<Action | undefined>(undefined);

export interface FormProps {
  action: Action;
  children: ComponentChildren;
  /** The verb on the button. */
  verb: string;
  /** Further buttons. */
  more?: ComponentChildren;
  isDisabled?: boolean;
  label?: string;
}

/** A form whose input stays when the request fails. */
export function Form({ action, children, verb, more, isDisabled = false, label }: FormProps): JSX.Element {
  return (
    <form
      aria-label={label}
      onSubmit={(event) => {
        event.preventDefault();
        action.run();
      }}
    >
      <FormAction.Provider value={action}>{children}</FormAction.Provider>
      <ErrorNote error={action.error.value} />
      <div class="buttons">
        {more}
        <button type="submit" class="primary" disabled={action.isPending.value || isDisabled}>
          {verb}
        </button>
      </div>
    </form>
  );
}

export interface FieldProps {
  label: string;
  name: string;
  hint?: ComponentChildren;
  children: (props: { id: string; name: string; 'aria-describedby': string; 'aria-invalid': boolean }) => JSX.Element;
}

/** A labelled control with the error of its value. */
export function Field({ label, name, hint, children }: FieldProps): JSX.Element {
  const id = useId();
  const fault = faultOf(useContext(FormAction)?.error.value, name);
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {children({ id, name, 'aria-describedby': `${id}-hint`, 'aria-invalid': fault !== undefined })}
      <p id={`${id}-hint`} class="hint">
        {fault === undefined ? hint : <span class="fault">{fault}</span>}
      </p>
    </div>
  );
}

export interface TextFieldProps extends Omit<FieldProps, 'children'> {
  value: string;
  onInput: (value: string) => void;
  type?: 'text' | 'email' | 'password' | 'time' | 'number';
  autocomplete?: string;
  isRequired?: boolean;
  isMonospace?: boolean;
  placeholder?: string;
  hasFocus?: boolean;
}

export function TextField(props: TextFieldProps): JSX.Element {
  const { value, onInput, type = 'text', autocomplete, isRequired = false, isMonospace = false } = props;
  return (
    <Field label={props.label} name={props.name} hint={props.hint}>
      {(control) =>
        // JSX types do not accept a variable `type`, so the element is created with h().
        h('input', {
          ...control,
          type,
          value,
          required: isRequired,
          autocomplete: autocomplete ?? 'off',
          placeholder: props.placeholder,
          spellcheck: false,
          class: isMonospace ? 'monospace' : '',
          autofocus: props.hasFocus,
          onInput: (event: TargetedInputEvent<HTMLInputElement>) => onInput(event.currentTarget.value),
        })
      }
    </Field>
  );
}

export interface SelectFieldProps<Value extends string> extends Omit<FieldProps, 'children'> {
  value: Value;
  options: readonly (readonly [Value, string])[];
  onInput: (value: Value) => void;
}

export function SelectField<Value extends string>(props: SelectFieldProps<Value>): JSX.Element {
  const { value, options, onInput } = props;
  return (
    <Field label={props.label} name={props.name} hint={props.hint}>
      {(control) => (
        <select
          {...control}
          onInput={(event) => {
            const chosen = options.find(([one]) => one === event.currentTarget.value);
            if (chosen) onInput(chosen[0]);
          }}
        >
          {options.map(([one, text]) => (
            <option key={one} value={one} selected={one === value}>
              {text}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
}

export function CheckField({
  label,
  isChecked,
  onInput,
  hint,
}: {
  label: string;
  isChecked: boolean;
  onInput: (isChecked: boolean) => void;
  hint?: ComponentChildren;
}): JSX.Element {
  const id = useId();
  return (
    <div class="field field-check">
      <input
        id={id}
        type="checkbox"
        checked={isChecked}
        aria-describedby={`${id}-hint`}
        onInput={(event) => onInput(event.currentTarget.checked)}
      />
      <label for={id}>{label}</label>
      <p id={`${id}-hint`} class="hint">
        {hint}
      </p>
    </div>
  );
}
