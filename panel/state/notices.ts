import { signal } from '@preact/signals';

export interface Notice {
  id: number;
  text: string;
}

/** Short messages about completed actions; screen readers read them out. */
export const notices = signal<readonly Notice[]>([]);
let next = 1;
const shownMs = 6000;

export function notify(text: string): void {
  const notice = { id: next, text };
  next += 1;
  notices.value = [...notices.value, notice];
  setTimeout(() => dismiss(notice.id), shownMs);
}

export function dismiss(id: number): void {
  notices.value = notices.value.filter((notice) => notice.id !== id);
}
