import type { JSX } from 'preact';

/** Outlines of 16 by 16 pixels; each is decoration beside a word, or is in a control with a label. */
const outlines = {
  branch: 'M5 3v7.5M5 13a1.5 1.5 0 1 0 0-.01M5 3a1.5 1.5 0 1 0 0-.01M11 5a1.5 1.5 0 1 0 0-.01M11 6.5c0 3-6 1.5-6 4',
  tag: 'M2.5 7.5v-5h5l6 6-5 5zM5.5 5.5h.01',
  'pull request': 'M4.5 5v6M4.5 3.5h.01M4.5 12.5h.01M11.5 11V6.5c0-1-.5-1.5-1.5-1.5H8m1.5-2L7.5 5l2 2M11.5 12.5h.01',
  check: 'M3.5 8.5l3 3 6-7',
  cross: 'M4 4l8 8M12 4l-8 8',
  dot: 'M8 5a3 3 0 1 0 0 6 3 3 0 0 0 0-6z',
  ring: 'M8 3a5 5 0 1 0 0 10A5 5 0 0 0 8 3z',
  progress: 'M8 2.5a5.5 5.5 0 1 1-5.5 5.5',
  warning: 'M8 2.5l6 10.5H2zM8 6.5v3M8 11.3v.01',
  bin: 'M3 4.5h10M6 4.500v-2h4v2M4.500 4.500l.600 9h5.800l.600-9M7 7v4M9 7v4',
  moon: 'M12.5 9.5A5.5 5.5 0 0 1 6.5 3a5.5 5.5 0 1 0 6 6.5z',
  search: 'M7 2.5a4.5 4.5 0 1 0 0 9 4.5 4.5 0 0 0 0-9zM10.5 10.5l3 3',
  star: 'M8 2l1.8 3.9 4.2.5-3.1 2.9.8 4.2L8 11.4l-3.7 2.1.8-4.2L2 6.4l4.2-.5z',
  external: 'M9 3h4v4M13 3L7.5 8.5M11 9v4H3V5h4',
  copy: 'M6 6h7v7H6zM3 10V3h7',
  chevron: 'M4 6l4 4 4-4',
  more: 'M3.5 8h.01M8 8h.01M12.5 8h.01',
  person: 'M8 2.5a2.7 2.7 0 1 0 0 5.4 2.7 2.7 0 0 0 0-5.4zM3 13.5c.5-2.7 2.4-4 5-4s4.500 1.300 5 4',
  plus: 'M8 3v10M3 8h10',
  clock: 'M8 2.500a5.500 5.500 0 1 0 0 11 5.500 5.500 0 0 0 0-11zM8 5v3l2 1.500',
  sync: 'M13 6A5.200 5.200 0 0 0 3.500 5M3 2.500V5.500h3M3 10a5.200 5.200 0 0 0 9.500 1M13 13.500v-3h-3',
  up: 'M8 13V3M4 7l4-4 4 4',
  down: 'M8 3v10M4 9l4 4 4-4',
  play: 'M5 3.500l7.500 4.500L5 12.500z',
  pause: 'M5.500 3.500v9M10.500 3.500v9',
  eye: 'M1.500 8S4 3.500 8 3.500 14.500 8 14.500 8 12 12.500 8 12.500 1.500 8 1.500 8zM8 6.200a1.800 1.800 0 1 0 0 3.600 1.800 1.800 0 0 0 0-3.600z',
  lock: 'M4 7.500h8v6H4zM5.500 7.500V5a2.500 2.500 0 0 1 5 0v2.500',
} as const;

export type IconName = keyof typeof outlines;

export function Icon({ name, filled = false }: { name: IconName; filled?: boolean }): JSX.Element {
  return (
    <svg class={`icon ${filled ? 'icon-filled' : ''}`} viewBox="0 0 16 16" aria-hidden="true" focusable="false">
      <path d={outlines[name]} />
    </svg>
  );
}

/** The mark of the product: a stool of a coppiced tree with new shoots. */
export function Logo(): JSX.Element {
  return (
    <svg class="logo" viewBox="0 0 24 24" aria-hidden="true" focusable="false">
      <path d="M4 20h16M7 20c0-6-1-8-3-11M12 20V4M17 20c0-6 1-8 3-11M12 12c-2-1-3-3-3-5M12 10c2-1 3-3 3-5" />
    </svg>
  );
}
