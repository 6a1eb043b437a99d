import { useSignal } from '@preact/signals';
import type { JSX, TargetedPointerEvent } from 'preact';
import { indexAt, linePath, numberText, positionsOf, rangeOf, ticksOf } from '../view/plot.ts';
import type { Point } from '../view/test-history.ts';

const maxTicks = 6;

interface PlotProps {
  label: string;
  /** What the number belongs to; for screen readers, because several plots may have the same label. */
  of: string;
  /** At least two, oldest first. */
  points: readonly Point[];
}

/** A number over builds. Pointer and arrow keys choose the build whose value is shown, at first the newest. */
export function Plot({ label, of, points }: PlotProps): JSX.Element | null {
  const chosen = useSignal<number | undefined>(undefined);
  const last = points.length - 1;
  const index = Math.min(chosen.value ?? last, last);
  const point = points[index];
  const values = points.map((one) => one.value);
  const { min, max } = rangeOf(values);
  const positions = positionsOf(values);
  const at = positions[index];
  if (!point || !at) return null;
  const choose = ({ currentTarget, clientX }: TargetedPointerEvent<HTMLDivElement>) => {
    const { left, width } = currentTarget.getBoundingClientRect();
    if (width > 0) chosen.value = indexAt((clientX - left) / width, points.length);
  };
  const value = numberText(point.value);
  const failed = point.outcome === 'failed' ? ', failed' : '';
  return (
    <figure class="plot">
      <figcaption>
        <span class="muted isolate">{label}</span>
        <span class="figures">
          <b>{value}</b>{' '}
          <span class="muted">
            build {point.build}
            {failed}
          </span>
        </span>
      </figcaption>
      <div class="plot-scale muted figures" aria-hidden="true">
        <span>{max > min && numberText(max)}</span>
        <span>{numberText(min)}</span>
      </div>
      <div
        class="plot-area"
        onPointerDown={choose}
        onPointerMove={choose}
        onPointerLeave={() => (chosen.value = undefined)}
      >
        <svg viewBox="0 0 100 100" preserveAspectRatio="none" aria-hidden="true" focusable="false">
          <path class="plot-chosen" d={`M${at.x} 0V100`} />
          <path class="plot-line" d={linePath(positions)} />
          {positions.map(({ x, y }, one) => (
            <path
              key={points[one]?.build}
              class={`plot-dot ${one === index ? 'is-chosen' : ''} ${points[one]?.outcome === 'failed' ? 'is-failed' : ''}`}
              d={`M${x} ${y}h0`}
            />
          ))}
        </svg>
        <input
          type="range"
          min={0}
          max={last}
          step={1}
          value={index}
          aria-label={`${label} of ${of} over builds`}
          aria-valuetext={`build ${point.build}: ${value}${failed}`}
          onInput={(event) => (chosen.value = event.currentTarget.valueAsNumber)}
          onBlur={() => (chosen.value = undefined)}
        />
      </div>
      <div class="plot-axis muted figures" aria-hidden="true">
        {ticksOf(points.length, maxTicks).map((tick) => (
          <span key={tick} style={{ '--x': `${positions[tick]?.x ?? 0}%` }}>
            {points[tick]?.build}
          </span>
        ))}
      </div>
    </figure>
  );
}
