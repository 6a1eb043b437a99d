import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { Copy } from './copy.tsx';
import { Icon } from './icons.tsx';

export interface SecretValueProps {
  name: string;
  value: string | undefined;
  isSecret?: boolean | undefined;
  isWithheld?: boolean | undefined;
  error?: string | undefined;
  /** Whether the value is shown without being revealed. */
  isPlain?: boolean | undefined;
}

/** A value that is hidden until the user reveals it. */
export function SecretValue({
  name,
  value,
  isSecret,
  isWithheld,
  error,
  isPlain = false,
}: SecretValueProps): JSX.Element {
  const isShown = useSignal(false);
  if (error !== undefined) return <span class="fault">{error}</span>;
  if (isSecret === true) return <span class="muted">secret, write-only</span>;
  if (isWithheld === true || value === undefined) return <span class="muted">withheld</span>;
  if (isPlain) {
    return (
      <span class="secret-value">
        <code class="isolate">{value}</code>
        <Copy text={value} label={`Copy the value of ${name}`} />
      </span>
    );
  }
  return (
    <span class="secret-value">
      {isShown.value ? <code class="isolate">{value}</code> : <span class="muted">••••••••</span>}
      <button
        type="button"
        class="icon-button"
        aria-pressed={isShown.value}
        aria-label={`Show the value of ${name}`}
        title={isShown.value ? 'Hide' : 'Show'}
        onClick={() => (isShown.value = !isShown.value)}
      >
        <Icon name="eye" />
      </button>
      {isShown.value && <Copy text={value} label={`Copy the value of ${name}`} />}
    </span>
  );
}
