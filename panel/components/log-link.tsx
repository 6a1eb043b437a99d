import type { ComponentChildren, JSX } from 'preact';
import { useQuery } from '../state/page.ts';

export interface LogLinkProps {
  /** The service whose log is shown. */
  service?: string;
  /** The build whose log is shown. */
  build?: number;
  stage?: string;
  line?: number;
  class?: string;
  style?: Record<string, string>;
  title?: string;
  children: ComponentChildren;
}

/** A link to a log of the page's environment. It scrolls to the log and moves the focus into it. */
export function LogLink({ service, build, stage, line, children, ...attributes }: LogLinkProps): JSX.Element {
  const { hrefWith } = useQuery();
  const text = (value: number | undefined) => (value === undefined ? undefined : String(value));
  const href = hrefWith({ tab: undefined, log: service, build: text(build), stage, line: text(line) });
  return (
    <a
      {...attributes}
      href={href}
      onClick={(event) => {
        if (event.ctrlKey || event.metaKey || event.shiftKey) return;
        // Only after the click has changed the address, the log is in the document.
        setTimeout(showLog, 0);
      }}
    >
      {children}
    </a>
  );
}

function showLog(): void {
  const logs = document.getElementById('logs');
  logs?.scrollIntoView({ block: 'start' });
  logs?.querySelector<HTMLElement>('.log-scroller')?.focus({ preventScroll: true });
}
