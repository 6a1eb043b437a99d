import { createContext, h, type ComponentChildren, type JSX, type TargetedInputEvent } from 'preact';
import { useContext, useEffect, useId, useLayoutEffect, useRef } from 'preact/hooks';
import { faultOf, shownFault } from '../api/errors.ts';
import type { Action } from '../state/action.ts';
import { ErrorNote } from './error-note.tsx';

/** The form around a field: its action, whose error can concern the field's value, and the names of its fields. */
const FormOfField = createContext<{ action: Action; fields: Set<string> } | undefined>(undefined);

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
  const form = useRef<HTMLFormElement>(null);
  const fields = useRef(new Set<string>());
  useEffect(() => {
    if (action.error.value) form.current?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus();
  }, [action.error.value]);
  return (
    <form
      ref={form}
      aria-label={label}
      onSubmit={(event) => {
        event.preventDefault();
        action.run();
      }}
    >
      <FormOfField.Provider value={{ action, fields: fields.current }}>{children}</FormOfField.Provider>
      <ErrorNote error={action.error.value} fields={fields.current} />
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
  const form = useContext(FormOfField);
  const fault = faultOf(form?.action.error.value, name);
  useLayoutEffect(() => {
    form?.fields.add(name);
    return () => form?.fields.delete(name);
  }, [form?.fields, name]);
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {children({ id, name, 'aria-describedby': `${id}-hint`, 'aria-invalid': fault !== undefined })}
      <p id={`${id}-hint`} class="hint">
        {fault !== undefined && (
          <span class="fault" role="alert">
            {shownFault(fault)}{' '}
          </span>
        )}
        {hint}
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
