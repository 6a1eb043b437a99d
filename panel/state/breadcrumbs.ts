import { signal } from '@preact/signals';
import { useLayoutEffect } from 'preact/hooks';

export interface Crumb {
  text: string;
  href: string;
}

/** Group, repository and environment of the page that is shown. */
export const breadcrumbs = signal<readonly Crumb[]>([]);
/** Whether the page takes the full width: lists and logs. */
export const isWide = signal(false);

export function useBreadcrumbs(crumbs: readonly Crumb[], wide = false): void {
  const key = JSON.stringify(crumbs);
  useLayoutEffect(() => {
    breadcrumbs.value = crumbs;
    isWide.value = wide;
  }, [key, wide]);
}
