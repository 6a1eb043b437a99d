import type { JSX } from 'preact';
import { highlighted } from '../view/log-filter.ts';
import { clockOf, levelOf, type LogLine } from '../view/log-line.ts';

export interface LogRowProps {
  line: LogLine;
  withServices: boolean;
  withTime: boolean;
  search: string;
  href: string;
  isMarked?: boolean;
  isCurrent?: boolean;
  onSelect?: () => void;
}

/** A line: its number is a link to it, its text is shown as it is. */
export function LogRow(props: LogRowProps): JSX.Element {
  const { line, withServices, withTime, search, href, isMarked = false, isCurrent = false, onSelect } = props;
  const level = levelOf(line.text);
  return (
    <div class={`log-line level-${level} ${isMarked ? 'is-marked' : ''} ${isCurrent ? 'is-current' : ''}`}>
      <a
        class="log-number"
        href={href}
        target="_self"
        tabIndex={-1}
        aria-label={`Line ${line.seq}`}
        onClick={(event) => {
          if (event.ctrlKey || event.metaKey || event.shiftKey || !onSelect) return;
          event.preventDefault();
          event.stopPropagation();
          onSelect();
        }}
      >
        {line.seq}
      </a>
      {withTime && <span class="log-time">{clockOf(line.time)}</span>}
      {withServices && (
        <span class="log-service" title={line.stage}>
          {line.service === '' ? line.stage : line.service}
        </span>
      )}
      <span class="log-text">
        {search === ''
          ? line.text
          : highlighted(line.text, search).map(({ text, isMatch }, index) =>
              isMatch ? <mark key={index}>{text}</mark> : text,
            )}
      </span>
    </div>
  );
}
