import type { JSX } from 'preact';
import { matchRanges } from '../view/log-filter.ts';
import { clockOf, levelOf, type LogLine } from '../view/log-line.ts';
import { piecesOf, type TerminalText } from '../view/terminal-text.ts';

export interface LogRowProps {
  line: LogLine;
  /** The number that is shown; links contain the seq. */
  number: number;
  withServices: boolean;
  withTime: boolean;
  search: string;
  href: string;
  isMarked?: boolean;
  isCurrent?: boolean;
  onSelect?: () => void;
}

/** A line with its number, which is a link to it. Markup in its text is shown as text. */
export function LogRow(props: LogRowProps): JSX.Element {
  const { line, number, withServices, withTime, search, href, isMarked = false, isCurrent = false, onSelect } = props;
  const level = levelOf(line.text);
  return (
    <div class={`log-line level-${level} ${isMarked ? 'is-marked' : ''} ${isCurrent ? 'is-current' : ''}`}>
      <a
        class="log-number"
        href={href}
        target="_self"
        tabIndex={-1}
        aria-label={`Line ${number}`}
        onClick={(event) => {
          if (event.ctrlKey || event.metaKey || event.shiftKey || !onSelect) return;
          event.preventDefault();
          event.stopPropagation();
          onSelect();
        }}
      >
        {number}
      </a>
      {withTime && <span class="log-time">{clockOf(line.time)}</span>}
      {withServices && (
        <span class="log-service" title={line.stage}>
          {line.service === '' ? line.stage : line.service}
        </span>
      )}
      <span class="log-text">
        <Pieces line={line} search={search} />
      </span>
    </div>
  );
}

/** The text with its colours and with the matches of the search. */
export function Pieces({ line, search = '' }: { line: TerminalText; search?: string }): JSX.Element {
  if (search === '' && !line.parts) return <>{line.text}</>;
  return (
    <>
      {piecesOf(line, matchRanges(line.text, search)).map(({ text, style, isMatch }, index) => {
        const styled = style === '' ? text : <span class={style}>{text}</span>;
        return isMatch ? <mark key={index}>{styled}</mark> : <span key={index}>{styled}</span>;
      })}
    </>
  );
}
