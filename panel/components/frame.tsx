import type { ComponentChildren, JSX } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { useSignal } from '@preact/signals';
import { useLocation } from 'preact-iso/router';
import { groupOf, groupPage } from '../api/paths.ts';
import type { GroupListItem } from '../api/types.ts';
import { breadcrumbs, isWide } from '../state/breadcrumbs.ts';
import { useResource } from '../state/resource.ts';
import { session, signOut } from '../state/session.ts';
import { readTheme, writeTheme, type Theme } from '../state/theme-storage.ts';
import { ConnectionState } from './connection-state.tsx';
import { Icon, Logo } from './icons.tsx';
import { Menu, MenuButton, MenuLink } from './menu.tsx';
import { Search } from './search.tsx';
import { visibleText } from '../view/visible-text.ts';

/** Header, breadcrumbs and the page below them. */
export function Frame({ children }: { children: ComponentChildren }): JSX.Element {
  const { path } = useLocation();
  const main = useRef<HTMLElement>(null);
  const isFirst = useRef(true);
  useEffect(() => {
    if (isFirst.current) isFirst.current = false;
    else {
      // A new page starts at its top, for keyboard and screen reader too.
      main.current?.focus({ preventScroll: true });
      window.scrollTo(0, 0);
    }
  }, [path]);
  return (
    <>
      <a class="skip-link" href="#main">
        Skip to the page
      </a>
      <header class="header">
        <a class="brand" href="/" aria-label="Coppice: overview">
          <Logo />
          <span class="brand-name">Coppice</span>
        </a>
        <GroupSwitcher path={path} />
        <span class="header-space" />
        <SearchButton />
        <ConnectionState />
        <AccountMenu />
      </header>
      <Breadcrumbs />
      <main id="main" ref={main} tabIndex={-1} class={`page ${isWide.value ? 'is-wide' : ''}`}>
        {children}
      </main>
    </>
  );
}

function Breadcrumbs(): JSX.Element {
  const crumbs = breadcrumbs.value;
  return (
    <nav class={`breadcrumbs ${isWide.value ? 'is-wide' : ''}`} aria-label="Breadcrumbs">
      <ol>
        {crumbs.map(({ text, href }, index) => (
          <li key={href}>
            <a href={href} class="isolate" aria-current={index === crumbs.length - 1 ? 'page' : undefined}>
              {text}
            </a>
          </li>
        ))}
      </ol>
    </nav>
  );
}

function GroupSwitcher({ path }: { path: string }): JSX.Element {
  const groups = useResource<GroupListItem[]>('/api/groups').data.value ?? [];
  const id = /^\/(?:groups|repositories|environments)\/([^/]+)/.exec(path)?.[1];
  const current = id === undefined ? undefined : groups.find((group) => group.id === groupOf(decodeURIComponent(id)));
  return (
    <Menu
      label={`Switch the group: ${visibleText(current?.name ?? 'All groups')}`}
      buttonClass="ghost group-switcher"
      button={
        <>
          <span class="one-line isolate">{visibleText(current?.name ?? 'All groups')}</span>
          <Icon name="chevron" />
        </>
      }
    >
      <MenuLink href="/">All groups</MenuLink>
      <hr />
      {groups.map((group) => (
        <MenuLink key={group.id} href={groupPage(group.id)}>
          <span class="isolate">{visibleText(group.name)}</span>
        </MenuLink>
      ))}
    </Menu>
  );
}

function SearchButton(): JSX.Element {
  const isOpen = useSignal(false);
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      // A terminal sends Ctrl+K to its shell.
      if (event.defaultPrevented) return;
      const isTyping = event.target instanceof Element && event.target.closest('input, textarea, select, dialog');
      const isSlash = event.key === '/' && !event.ctrlKey && !event.metaKey && !event.altKey && !isTyping;
      const isControlK = event.key.toLowerCase() === 'k' && (event.ctrlKey || event.metaKey);
      if (!isSlash && !isControlK) return;
      event.preventDefault();
      isOpen.value = true;
    };
    window.addEventListener('keydown', onKey);
    return () => window.removeEventListener('keydown', onKey);
  }, []);
  return (
    <>
      <button type="button" class="search-button" aria-label="Search" onClick={() => (isOpen.value = true)}>
        <Icon name="search" />
        <span class="search-label">Search</span>
        <kbd>/</kbd>
      </button>
      {isOpen.value && <Search onClose={() => (isOpen.value = false)} />}
    </>
  );
}

const themes: readonly (readonly [Theme, string])[] = [
  ['system', 'Theme of the system'],
  ['light', 'Light theme'],
  ['dark', 'Dark theme'],
];

function AccountMenu(): JSX.Element | null {
  const theme = useSignal(readTheme());
  if (session.value.kind !== 'signed-in') return null;
  const { user } = session.value;
  const choose = (chosen: Theme) => {
    theme.value = chosen;
    writeTheme(chosen);
    if (chosen === 'system') delete document.documentElement.dataset['theme'];
    else document.documentElement.dataset['theme'] = chosen;
  };
  return (
    <Menu label={`Account ${user.email}`} buttonClass="icon-button" button={<Icon name="person" />}>
      <p class="menu-text">{user.email}</p>
      <MenuLink href="/account">Account</MenuLink>
      {user.administrator === true && <MenuLink href="/administration">Administration</MenuLink>}
      <a href="/api/docs" role="menuitem" target="_blank" rel="noopener">
        REST API
      </a>
      <hr />
      {themes.map(([one, text]) => (
        <MenuButton key={one} onClick={() => choose(one)}>
          {text}
          {theme.value === one && <Icon name="check" />}
        </MenuButton>
      ))}
      <hr />
      <MenuButton onClick={() => void signOut()}>Sign out</MenuButton>
    </Menu>
  );
}
