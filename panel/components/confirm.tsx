import type { ComponentChildren, JSX } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { useAction } from '../state/action.ts';
import { Dialog } from './dialog.tsx';
import { ErrorNote } from './error-note.tsx';

export interface ConfirmProps {
  title: string;
  /** The consequence, in one sentence with names and numbers. */
  children: ComponentChildren;
  /** The verb on the button. */
  verb: string;
  isDestructive?: boolean;
  act: () => Promise<void>;
  onClose: () => void;
}

/** Asks for confirmation of an action that cannot be undone. The focus is on Cancel. */
export function Confirm({ title, children, verb, isDestructive = true, act, onClose }: ConfirmProps): JSX.Element {
  const cancel = useRef<HTMLButtonElement>(null);
  const action = useAction(async () => {
    await act();
    onClose();
  });
  useEffect(() => cancel.current?.focus(), []);
  return (
    <Dialog title={title} onClose={onClose}>
      <div class="consequence">{children}</div>
      <ErrorNote error={action.error.value} />
      <div class="buttons">
        <button type="button" ref={cancel} onClick={onClose}>
          Cancel
        </button>
        <button
          type="button"
          class={isDestructive ? 'danger' : 'primary'}
          disabled={action.isPending.value}
          onClick={() => action.run()}
        >
          {verb}
        </button>
      </div>
    </Dialog>
  );
}
