import type { ComponentChildren, JSX } from 'preact';
import { useSignal } from '@preact/signals';
import { useEffect, useId, useRef } from 'preact/hooks';
import { useAction, useIsShown } from '../state/action.ts';
import { Dialog } from './dialog.tsx';
import { ErrorNote } from './error-note.tsx';

export interface ConfirmProps {
  title: string;
  /** The consequence, in one sentence with names and numbers. */
  children: ComponentChildren;
  /** The verb on the button. */
  verb: string;
  isDestructive?: boolean;
  /** A name that the user types first, for what nobody should delete by a slip. */
  typed?: string;
  act: () => Promise<void>;
  /** Called after the action in place of onClose, unless the dialog was left meanwhile. */
  onDone?: () => void;
  onClose: () => void;
}

/** Asks for confirmation of an action that cannot be undone. The focus is on Cancel. */
export function Confirm(props: ConfirmProps): JSX.Element {
  const { title, children, verb, isDestructive = true, typed, act, onClose, onDone = onClose } = props;
  const input = useSignal('');
  const field = useId();
  const cancel = useRef<HTMLButtonElement>(null);
  const isShown = useIsShown();
  const action = useAction(async () => {
    await act();
    if (isShown()) onDone();
  });
  useEffect(() => cancel.current?.focus(), []);
  return (
    <Dialog title={title} onClose={onClose}>
      <div class="consequence">{children}</div>
      {typed !== undefined && (
        <div class="field">
          <label for={field}>
            Type <code>{typed}</code> to confirm
          </label>
          <input
            id={field}
            value={input.value}
            autocomplete="off"
            autocapitalize="off"
            spellcheck={false}
            onInput={(event) => (input.value = event.currentTarget.value)}
          />
        </div>
      )}
      <ErrorNote error={action.error.value} />
      <div class="buttons">
        <button type="button" ref={cancel} onClick={onClose}>
          Cancel
        </button>
        <button
          type="button"
          class={isDestructive ? 'danger' : 'primary'}
          disabled={action.isPending.value || (typed !== undefined && input.value.trim() !== typed)}
          onClick={() => action.run()}
        >
          {verb}
        </button>
      </div>
    </Dialog>
  );
}
