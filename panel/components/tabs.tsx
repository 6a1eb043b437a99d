import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { useEffect, useRef } from 'preact/hooks';

export interface Tab {
  id: string;
  text: string;
  href: string;
  count?: number | undefined;
}

const tabMargin = 40;

/** Links to the views of a page; the address determines the current one. */
export function Tabs({ tabs, current, label }: { tabs: readonly Tab[]; current: string; label: string }): JSX.Element {
  const nav = useRef<HTMLElement>(null);
  const hidden = useSignal({ before: false, after: false });
  const measure = () => {
    const { current } = nav;
    if (!current) return;
    const before = current.scrollLeft > 1;
    const after = current.scrollLeft + current.clientWidth < current.scrollWidth - 1;
    if (before !== hidden.value.before || after !== hidden.value.after) hidden.value = { before, after };
  };
  useEffect(() => {
    const { current } = nav;
    if (!current) return undefined;
    const observer = new ResizeObserver(measure);
    observer.observe(current);
    return () => observer.disconnect();
  }, []);
  useEffect(() => {
    // On a phone the tabs scroll sideways.
    const shown = nav.current?.querySelector<HTMLElement>('[aria-current]');
    if (nav.current && shown) nav.current.scrollLeft = shown.offsetLeft - nav.current.offsetLeft - tabMargin;
    measure();
  }, [current]);
  const { before, after } = hidden.value;
  return (
    <nav
      ref={nav}
      class={`tabs ${before ? 'has-fewer' : ''} ${after ? 'has-more' : ''}`}
      aria-label={label}
      onScroll={measure}
    >
      {tabs.map(({ id, text, href, count }) => (
        <a key={id} href={href} aria-current={id === current ? 'page' : undefined}>
          {text}
          {count !== undefined && count > 0 && <span class="count figures">{count}</span>}
        </a>
      ))}
    </nav>
  );
}

/** Returns the id of the tab that the address names, or the first one. */
export function currentTab(tabs: readonly Pick<Tab, 'id'>[], named: string | undefined): string {
  return tabs.find(({ id }) => id === named)?.id ?? tabs[0]?.id ?? '';
}
