import type { ComponentChildren, JSX } from 'preact';
import { detailsBeside, sentenceOf, type RequestError } from '../api/errors.ts';
import { Icon } from './icons.tsx';

/**
 * Why a write failed, beside the form or button that caused it.
 * @param props.fields names of the fields that show their own errors
 */
export function ErrorNote({
  error,
  fields,
}: {
  error: RequestError | undefined;
  fields?: ReadonlySet<string>;
}): JSX.Element | null {
  if (!error) return null;
  const details = detailsBeside(error, fields);
  // Each field says what is wrong with its value, once.
  if (error.details.length > 0 && details.length === 0) return null;
  const others = details.filter(({ message }) => !error.message.includes(message));
  return (
    <div class="note note-failed" role="alert">
      <Icon name="cross" />
      <div>
        <p>{sentenceOf(error)}</p>
        {others.length > 0 && (
          <ul>
            {others.map(({ path, message }) => (
              <li key={`${path} ${message}`}>
                {path !== '' && <code>{path}</code>} {message}
              </li>
            ))}
          </ul>
        )}
      </div>
    </div>
  );
}

/** The error in place of content that cannot be read. */
export function LoadError({
  error,
  retry,
  what,
}: {
  error: RequestError;
  retry: () => void;
  what: string;
}): JSX.Element {
  if (error.isNotFound) {
    return (
      <Empty title={`No such ${what}`} isPage>
        <p>It was deleted, or you are not a member of its group. Ask a member of the group to add you.</p>
        <p>
          <a href="/">Go to the overview</a>
        </p>
      </Empty>
    );
  }
  return (
    <div class="note note-failed" role="alert">
      <Icon name="cross" />
      <div>
        <p>
          Cannot load the {what}. {sentenceOf(error)}
        </p>
        <button type="button" onClick={retry}>
          Try again
        </button>
      </div>
    </div>
  );
}

/** An empty state: what the thing is for, and the first action. @param props.isPage whether it fills the page */
export function Empty({
  title,
  children,
  isPage = false,
}: {
  title: string;
  children?: ComponentChildren;
  isPage?: boolean;
}): JSX.Element {
  return (
    <div class="empty">
      {isPage ? <h1>{title}</h1> : <h2>{title}</h2>}
      {children}
    </div>
  );
}

/** Placeholder lines for content that is being loaded, visible only after 150 ms. */
export function Skeleton({ lines = 4, what }: { lines?: number; what: string }): JSX.Element {
  return (
    <div class="skeleton" role="status">
      <p class="muted">Loading {what}…</p>
      {Array.from({ length: lines }, (_none, index) => (
        <span key={index} class="skeleton-line" aria-hidden="true" />
      ))}
    </div>
  );
}
