import type { JSX } from 'preact';
import { useEffect } from 'preact/hooks';

export interface Section {
  /** The hash of the address that leads to it. */
  id: string;
  title: string;
  content: JSX.Element;
}

/** The parts of a long page, with links to them beside it. */
export function Sections({ sections, label }: { sections: readonly Section[]; label: string }): JSX.Element {
  useEffect(() => {
    // The browser looks for the part that the address names before the page has it.
    const named = location.hash.slice(1);
    if (sections.some(({ id }) => id === named)) document.getElementById(named)?.scrollIntoView();
  }, []);
  return (
    <div class="sections">
      <nav class="section-links" aria-label={label}>
        <ul>
          {sections.map(({ id, title }) => (
            <li key={id}>
              <a href={`#${id}`}>{title}</a>
            </li>
          ))}
        </ul>
      </nav>
      <div class="stack settings">
        {sections.map(({ id, content }) => (
          <div key={id} id={id} class="section-part">
            {content}
          </div>
        ))}
      </div>
    </div>
  );
}
