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
  useEffect(() => {
    // On a phone the tabs scroll sideways.
    const shown = nav.current?.querySelector<HTMLElement>('[aria-current]');
    if (nav.current && shown) nav.current.scrollLeft = shown.offsetLeft - nav.current.offsetLeft - tabMargin;
  }, [current]);
  return (
    <nav ref={nav} class="tabs" aria-label={label}>
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
