import type { JSX } from 'preact';
import { sparklinePath } from '../view/sparkline.ts';

const size = { width: 60, height: 18 };

/** Values over time as a line; the latest value is in its label. */
export function Sparkline({ values, label }: { values: readonly number[]; label: string }): JSX.Element | null {
  if (values.length < 2) return null;
  return (
    <svg class="sparkline" viewBox={`0 0 ${size.width} ${size.height}`} role="img" aria-label={label}>
      <path d={sparklinePath(values, size)} />
    </svg>
  );
}
