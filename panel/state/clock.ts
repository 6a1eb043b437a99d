import { computed, signal } from '@preact/signals';

/** The time in milliseconds, once a second while the page is visible, for ages and durations on the screen. */
export const now = signal(Date.now());

setInterval(() => {
  if (document.visibilityState === 'visible') now.value = Date.now();
}, 1000);
document.addEventListener('visibilitychange', () => (now.value = Date.now()));

const coarseMs = 10_000;

/** The same time in steps of 10 s, for the ages in long lists. */
export const coarseNow = computed(() => Math.floor(now.value / coarseMs) * coarseMs);
