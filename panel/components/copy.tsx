import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { notify } from '../state/notices.ts';
import { Icon } from './icons.tsx';

const shownMs = 1500;

/** A button that copies a text. */
export function Copy({ text, label }: { text: string; label: string }): JSX.Element {
  const isDone = useSignal(false);
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text);
      isDone.value = true;
      setTimeout(() => (isDone.value = false), shownMs);
    } catch {
      // Browsers permit this only over https and on localhost.
      notify('The browser does not permit copying here. Select the text and copy it.');
    }
  };
  return (
    <button type="button" class="icon-button" aria-label={label} title={label} onClick={() => void copy()}>
      <Icon name={isDone.value ? 'check' : 'copy'} />
    </button>
  );
}

/** A command line that does the same as the page, with a button to copy it. */
export function Command({ text }: { text: string }): JSX.Element {
  return (
    <div class="command">
      <code tabIndex={0}>{text}</code>
      <Copy text={text} label="Copy the command" />
    </div>
  );
}
