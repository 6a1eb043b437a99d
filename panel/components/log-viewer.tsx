import { useSignal } from '@preact/signals';
import type { ComponentChildren, JSX } from 'preact';
import { useEffect, useLayoutEffect, useMemo, useRef } from 'preact/hooks';
import { sentenceOf, type RequestError } from '../api/errors.ts';
import { LogFollower, type LogSource, type LogState } from '../state/log-follower.ts';
import { useQuery } from '../state/page.ts';
import type { LogEnd, LogLine } from '../view/log-line.ts';
import { LogView, windowOf } from '../view/log-view.ts';
import { LogRow } from './log-row.tsx';
import { LogToolbar } from './log-toolbar.tsx';

const rowHeight = 20;
const typeMs = 300;
/** A reader within this distance of the end, in pixels, is at the end. */
const endMargin = 24;

export interface LogViewerProps {
  source: LogSource;
  /** Controls that choose the log. */
  choice: ComponentChildren;
  /** Whether lines come from several services. */
  withServices: boolean;
  /** Whether a line is numbered by its position instead of by its seq. */
  isNumberedByPosition?: boolean;
  /** Path of the whole log as text, if the API keeps one. */
  downloadPath?: string;
  fileName: string;
  missing: string;
}

function isPhone(): boolean {
  return window.matchMedia('(max-width: 599px)').matches;
}

/** A log of any length: only the lines in view are in the document. */
export function LogViewer(props: LogViewerProps): JSX.Element {
  const { source, choice, withServices, isNumberedByPosition = false, downloadPath, fileName, missing } = props;
  const { query, setQuery } = useQuery();
  const lines = useRef<LogLine[]>([]);
  const version = useSignal(0);
  const state = useSignal<LogState>('connecting');
  const error = useSignal<RequestError | undefined>(undefined);
  const end = useSignal<LogEnd | undefined>(undefined);
  const pausedAt = useSignal<number | undefined>(undefined);
  const isFollowing = useSignal(query['line'] === undefined && query['stage'] === undefined);
  const seenLines = useSignal(0);
  const search = useSignal(query['search'] ?? '');
  const match = useSignal(-1);
  const viewport = useSignal({ top: 0, height: 600 });
  const columns = useSignal(120);
  const scroller = useRef<HTMLDivElement>(null);
  const sample = useRef<HTMLDivElement>(null);
  const sourceKey = JSON.stringify(source);

  useEffect(() => {
    lines.current = [];
    version.value = 0;
    end.value = undefined;
    error.value = undefined;
    let frame = 0;
    const flush = () => {
      frame = 0;
      version.value = lines.current.length;
    };
    const follower = new LogFollower(source, {
      onLines: (more) => {
        for (const line of more) lines.current.push(line);
        // The list is rendered once per screen frame, however many WebSocket frames arrive.
        frame ||= requestAnimationFrame(flush);
      },
      onEnd: (ended) => (end.value = ended),
      onState: (now, refused) => {
        state.value = now;
        error.value = refused;
      },
    });
    follower.start();
    return () => {
      follower.stop();
      cancelAnimationFrame(frame);
    };
  }, [sourceKey]);

  // The address contains what was searched, but not each letter while it is typed.
  useEffect(() => {
    if (search.value === (query['search'] ?? '')) return undefined;
    const timer = setTimeout(() => setQuery({ search: search.value }), typeMs);
    return () => clearTimeout(timer);
  }, [search.value]);

  // A phone is too narrow for most lines.
  const isWrapped = query['wrap'] === undefined ? isPhone() : query['wrap'] === '1';
  const filter = {
    service: query['service'],
    stage: query['only'],
    isErrorsOnly: query['errors'] === '1',
  };
  const wrapColumns = isWrapped ? columns.value : undefined;
  const filterKey = JSON.stringify([sourceKey, filter, search.value, wrapColumns]);
  const added = useRef(0);
  const view = useMemo(() => {
    added.current = 0;
    return new LogView([], filter, search.value, wrapColumns);
  }, [filterKey]);
  const shownCount = pausedAt.value ?? version.value;
  if (added.current < shownCount) {
    view.add(lines.current.slice(added.current, shownCount));
    added.current = shownCount;
  }

  const scrollTo = (index: number) => {
    const { current } = scroller;
    if (!current || index < 0) return;
    isFollowing.value = false;
    current.scrollTop = view.layout.topOf(index) * rowHeight - current.clientHeight / 3;
  };

  // The line or stage that the address names is scrolled to once, when it has arrived.
  const target = `${query['line'] ?? ''} ${query['stage'] ?? ''} ${sourceKey}`;
  const reached = useRef('');
  useLayoutEffect(() => {
    if (reached.current === target) return;
    const seq = Number(query['line'] ?? 0);
    const index = seq > 0 ? view.indexOf(seq) : view.rows.findIndex(({ stage }) => stage === query['stage']);
    if (index < 0 || (seq > 0 && view.rows[index]?.seq !== seq && !end.value)) return;
    reached.current = target;
    scrollTo(index);
  });

  useLayoutEffect(() => {
    const { current } = scroller;
    if (current && isFollowing.value && pausedAt.value === undefined) {
      current.scrollTop = current.scrollHeight;
      // The scroll event arrives only after the next frame, which would otherwise show no rows.
      viewport.value = { top: current.scrollTop, height: current.clientHeight };
    }
    if (isFollowing.value) seenLines.value = view.rows.length;
  }, [view, view.rows.length, isFollowing.value, pausedAt.value, wrapColumns]);

  useLayoutEffect(() => {
    const element = scroller.current;
    if (!element) return undefined;
    const measure = () => {
      viewport.value = { top: element.scrollTop, height: element.clientHeight };
      const cell = sample.current?.querySelector('.log-text');
      const letters = sample.current?.querySelector('.log-sample');
      if (!cell || !letters) return;
      const letter = letters.getBoundingClientRect().width / sampleLetters;
      const width = element.clientWidth - (cell.getBoundingClientRect().left - element.getBoundingClientRect().left);
      if (letter > 0) columns.value = Math.max(10, Math.floor((width - 16) / letter));
    };
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    return () => observer.disconnect();
  }, [withServices, query['time']]);

  const follow = () => {
    pausedAt.value = undefined;
    isFollowing.value = true;
  };
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      const isTyping = event.target instanceof Element && event.target.closest('input, textarea, select, dialog');
      if (event.key === 'f' && !isTyping && !event.ctrlKey && !event.metaKey && !event.altKey) follow();
    };
    window.addEventListener('keydown', onKey);
    return () => window.removeEventListener('keydown', onKey);
  }, []);

  const go = (step: number) => {
    const count = view.found.length;
    if (count === 0) return;
    match.value = (match.value + step + count) % count;
    scrollTo(view.found[match.value] ?? -1);
  };
  const { first, last } = windowOf(view.layout, { ...viewport.value, rowHeight });
  const top = view.rows[view.layout.indexAt(viewport.value.top / rowHeight)];
  const newLines = pausedAt.value === undefined ? view.rows.length - seenLines.value : version.value - pausedAt.value;
  const marked = Number(query['line'] ?? 0);
  return (
    <section class="logs" id="logs" aria-label="Log">
      <LogToolbar
        lines={lines.current}
        count={version.value}
        shown={view.rows}
        withServices={withServices}
        choice={choice}
        search={search.value}
        onSearch={(text) => {
          search.value = text;
          match.value = -1;
        }}
        found={view.found.length}
        match={match.value}
        onGo={go}
        isWrapped={isWrapped}
        isPaused={pausedAt.value !== undefined}
        onPause={() => (pausedAt.value = pausedAt.value === undefined ? version.value : undefined)}
        {...(downloadPath !== undefined && { downloadPath })}
        fileName={fileName}
      />
      <div class="log-box">
        <div class="log-stage">
          <span aria-hidden="true" class="one-line isolate">
            {top && [top.service, top.stage].filter((text) => text !== '').join(' · ')}
          </span>
          <span class="figures">{countText(view.rows.length, version.value)}</span>
        </div>
        <div
          ref={scroller}
          class={`log-scroller ${isWrapped ? 'is-wrapped' : ''}`}
          role="region"
          aria-label="Log lines"
          tabIndex={0}
          onScroll={({ currentTarget }) => {
            const { scrollTop, clientHeight, scrollHeight } = currentTarget;
            const isAtEnd = scrollTop + clientHeight >= scrollHeight - endMargin;
            if (isAtEnd !== isFollowing.value && viewport.value.top !== scrollTop) isFollowing.value = isAtEnd;
            viewport.value = { top: scrollTop, height: clientHeight };
          }}
        >
          <div ref={sample} class="log-measure" aria-hidden="true">
            <LogRow
              line={sampleLine}
              number={0}
              withServices={withServices}
              withTime={query['time'] === '1'}
              search=""
              href=""
            />
            <span class="log-sample">{'x'.repeat(sampleLetters)}</span>
          </div>
          <div class="log-content" style={{ height: `${view.layout.height * rowHeight}px` }}>
            <div class="log-window" style={{ top: `${view.layout.topOf(first) * rowHeight}px` }}>
              {view.rows.slice(first, last + 1).map((line) => (
                <LogRow
                  key={line.seq}
                  line={line}
                  number={isNumberedByPosition ? line.position : line.seq}
                  withServices={withServices}
                  withTime={query['time'] === '1'}
                  search={search.value}
                  isMarked={line.seq === marked}
                  isCurrent={view.found[match.value] !== undefined && view.rows[view.found[match.value] ?? -1] === line}
                  href={lineHref(line.seq)}
                  onSelect={() => {
                    reached.current = `${line.seq} ${query['stage'] ?? ''} ${sourceKey}`;
                    setQuery({ line: String(line.seq) });
                  }}
                />
              ))}
            </div>
          </div>
        </div>
        {!isFollowing.value && newLines > 0 && (
          <button type="button" class="log-new" onClick={follow}>
            {newLines} new {newLines === 1 ? 'line' : 'lines'} · follow <kbd>f</kbd>
          </button>
        )}
        <div class="log-foot" role="status">
          <LogStatus
            state={state.value}
            end={end.value}
            error={error.value}
            isEmpty={version.value === 0}
            missing={missing}
          />
        </div>
      </div>
    </section>
  );
}

function countText(shown: number, all: number): string {
  const lines = all === 1 ? 'line' : 'lines';
  const count = all.toLocaleString('en');
  return shown === all ? `${count} ${lines}` : `${shown.toLocaleString('en')} of ${count} ${lines}`;
}

const sampleLetters = 50;
const sampleLine: LogLine = { seq: 0, position: 0, time: '2026-01-01T00:00:00Z', service: 'x', stage: '', text: '' };

function lineHref(seq: number): string {
  const parameters = new URLSearchParams(location.search);
  parameters.set('line', String(seq));
  return `${location.pathname}?${parameters.toString()}`;
}

function LogStatus({
  state,
  end,
  error,
  isEmpty,
  missing,
}: {
  state: LogState;
  end: LogEnd | undefined;
  error: RequestError | undefined;
  isEmpty: boolean;
  missing: string;
}): JSX.Element {
  if (end) {
    const ended = end.result === 'succeeded' ? 'built' : end.result === 'failed' ? 'failed' : 'empty';
    return (
      <span class={`log-end state-${ended} isolate`}>
        {end.result}
        {end.message !== '' && `: ${end.message}`}
      </span>
    );
  }
  const texts: Record<LogState, string> = {
    connecting: 'Connecting',
    open: isEmpty ? 'Waiting for the first line' : 'Following',
    reconnecting: 'Reconnecting; the log continues after the last line',
    ended: 'End of the log',
    missing: error && !error.isNotFound ? sentenceOf(error) : missing,
    gone: 'The environment is gone',
  };
  return <span>{texts[state]}</span>;
}
