import type { ComponentChildren, JSX } from 'preact';
import { useId, useRef } from 'preact/hooks';

export interface MenuProps {
  /** The content of the button. */
  button: ComponentChildren;
  label: string;
  children: ComponentChildren;
  buttonClass?: string;
}

const gap = 4;

/** A button that opens a list of links and buttons. Arrow keys move in it, Escape closes it. */
export function Menu({ button, label, children, buttonClass = '' }: MenuProps): JSX.Element {
  const id = useId();
  const list = useRef<HTMLDivElement>(null);
  const opener = useRef<HTMLButtonElement>(null);
  const openBelowButton = () => {
    const at = opener.current?.getBoundingClientRect();
    if (!at || !list.current) return;
    const { style, offsetWidth } = list.current;
    const left = Math.max(gap, Math.min(at.left, document.documentElement.clientWidth - offsetWidth - gap));
    style.top = `${at.bottom + gap}px`;
    style.left = `${left}px`;
    items(list.current)[0]?.focus();
  };
  const move = (event: KeyboardEvent) => {
    const steps: Record<string, number> = { ArrowDown: 1, ArrowUp: -1 };
    const step = steps[event.key];
    if (step === undefined || !list.current) return;
    event.preventDefault();
    const all = items(list.current);
    const at = all.findIndex((item) => item === document.activeElement);
    all.at((at + step) % all.length)?.focus();
  };
  return (
    <>
      <button type="button" ref={opener} popovertarget={id} class={buttonClass} aria-label={label} aria-haspopup="menu">
        {button}
      </button>
      <div
        id={id}
        ref={list}
        popover="auto"
        class="menu"
        role="menu"
        aria-label={label}
        onToggle={(event) => {
          if (event.newState === 'open') openBelowButton();
        }}
        onKeyDown={move}
        onClick={(event) => {
          if (event.target instanceof Element && event.target.closest('a, button')) list.current?.hidePopover();
        }}
      >
        {children}
      </div>
    </>
  );
}

function items(list: HTMLElement): HTMLElement[] {
  return [...list.querySelectorAll<HTMLElement>('[role^="menuitem"]:not([disabled])')];
}

export function MenuLink({ href, children }: { href: string; children: ComponentChildren }): JSX.Element {
  return (
    <a href={href} role="menuitem">
      {children}
    </a>
  );
}

export function MenuButton({
  onClick,
  children,
  isDestructive = false,
}: {
  onClick: () => void;
  children: ComponentChildren;
  isDestructive?: boolean;
}): JSX.Element {
  return (
    <button type="button" role="menuitem" class={isDestructive ? 'danger-text' : ''} onClick={onClick}>
      {children}
    </button>
  );
}
