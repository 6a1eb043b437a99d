import xterm, { type Terminal } from '@xterm/headless';
import type { JSX } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { TerminalSize } from '../../shell-protocol/frames.ts';
import { TerminalSession } from '../state/terminal-session.ts';
import { keySequence, pastedText } from '../view/terminal-keys.ts';
import { screenParts } from '../view/terminal-screen.ts';

/** Height of a row in pixels, as in terminal.css. */
const rowHeight = 18;
const scrollback = 2000;
const minSize: TerminalSize = { columns: 20, rows: 4 };
const resizeDelayMs = 150;

export interface TerminalScreenProps {
  path: string;
  label: string;
  onEnd: (reason: string) => void;
}

/**
 * A shell at a terminal. The emulator is xterm's, without its renderer: rows are text in the document, so nothing is
 * styled inline, and they can be selected and read aloud.
 */
export function TerminalScreen({ path, label, onEnd }: TerminalScreenProps): JSX.Element {
  const scroller = useRef<HTMLDivElement>(null);
  const keyboard = useRef<HTMLTextAreaElement>(null);
  const measure = useRef<HTMLSpanElement>(null);
  const opened = useRef<{ terminal: Terminal; session: TerminalSession }>(null);
  const isAtEnd = useRef(true);
  const [frame, setFrame] = useState(0);
  const [isFocused, setFocused] = useState(false);

  useEffect(() => {
    const size = sizeOf(scroller.current, measure.current);
    const terminal = new xterm.Terminal({ cols: size.columns, rows: size.rows, scrollback, allowProposedApi: true });
    let isShown = true;
    const session = new TerminalSession({
      ...{ path, size },
      // The socket of a closed shell ends later, when another shell may be open.
      onEnd: (reason) => isShown && onEnd(reason),
      onOutput: (bytes, done) => terminal.write(bytes, done),
      onStart: () => keyboard.current?.focus(),
    });
    opened.current = { terminal, session };
    // Answers to what programs ask a terminal.
    terminal.onData((text) => session.reply(text));
    let next = 0;
    terminal.onWriteParsed(() => {
      next ||= requestAnimationFrame(() => {
        next = 0;
        setFrame((before) => before + 1);
      });
    });
    let timer: ReturnType<typeof setTimeout> | undefined;
    const observer = new ResizeObserver(() => {
      clearTimeout(timer);
      timer = setTimeout(() => {
        const now = sizeOf(scroller.current, measure.current);
        if (now.columns === terminal.cols && now.rows === terminal.rows) return;
        terminal.resize(now.columns, now.rows);
        session.resize(now);
        setFrame((before) => before + 1);
      }, resizeDelayMs);
    });
    if (scroller.current) observer.observe(scroller.current);
    return () => {
      isShown = false;
      observer.disconnect();
      clearTimeout(timer);
      cancelAnimationFrame(next);
      session.close();
      terminal.dispose();
    };
  }, [path]);

  useLayoutEffect(() => {
    if (scroller.current && isAtEnd.current) scroller.current.scrollTop = scroller.current.scrollHeight;
  }, [frame]);

  const send = (text: string) => {
    isAtEnd.current = true;
    opened.current?.session.input(text);
  };
  const modes = opened.current?.terminal.modes;
  return (
    <div class="terminal" role="group" aria-label={label}>
      <div
        ref={scroller}
        class="terminal-scroller"
        role="log"
        aria-label={`${label}: output`}
        tabIndex={0}
        onScroll={({ currentTarget: { scrollTop, scrollHeight, clientHeight } }) => {
          const isNow = scrollTop + clientHeight >= scrollHeight - rowHeight / 2;
          if (!isNow || !isAtEnd.current) setFrame((before) => before + 1);
          isAtEnd.current = isNow;
        }}
        onMouseUp={() => {
          if (document.getSelection()?.isCollapsed !== false) keyboard.current?.focus({ preventScroll: true });
        }}
      >
        <span ref={measure} class="terminal-measure" aria-hidden="true">
          {'0'.repeat(10)}
        </span>
        <Rows terminal={opened.current?.terminal} scroller={scroller.current} isFocused={isFocused} />
      </div>
      <textarea
        ref={keyboard}
        class="terminal-keyboard"
        aria-label={`${label}: keyboard input. Shift+Tab leaves the terminal`}
        autocomplete="off"
        autocapitalize="off"
        spellcheck={false}
        onFocus={() => setFocused(true)}
        onBlur={() => setFocused(false)}
        onKeyDown={(event) => {
          if (event.isComposing) return;
          const sequence = keySequence(event, modes?.applicationCursorKeysMode === true);
          if (sequence === undefined) return;
          event.preventDefault();
          send(sequence);
        }}
        onInput={(event) => {
          if (event.isComposing) return;
          send(event.currentTarget.value);
          event.currentTarget.value = '';
        }}
        onCompositionEnd={(event) => {
          send(event.data);
          event.currentTarget.value = '';
        }}
        onPaste={(event) => {
          event.preventDefault();
          send(pastedText(event.clipboardData?.getData('text/plain') ?? '', modes?.bracketedPasteMode === true));
        }}
      />
    </div>
  );
}

/** The rows in view, of the screen and what has scrolled out of it. */
function Rows({
  terminal,
  scroller,
  isFocused,
}: {
  terminal: Terminal | undefined;
  scroller: HTMLElement | null;
  isFocused: boolean;
}): JSX.Element {
  const buffer = terminal?.buffer.active;
  const length = buffer?.length ?? 0;
  const inView = Math.ceil((scroller?.clientHeight ?? 0) / rowHeight) + 2;
  const isAtEnd =
    (scroller?.scrollTop ?? 0) + (scroller?.clientHeight ?? 0) >= (scroller?.scrollHeight ?? 0) - rowHeight;
  const wanted = isAtEnd ? length - inView : Math.floor((scroller?.scrollTop ?? 0) / rowHeight);
  const first = Math.max(0, Math.min(wanted, length - inView));
  const cursorRow = buffer ? buffer.baseY + buffer.cursorY : -1;
  const rows = Array.from({ length: Math.min(inView, length - first) }, (_none, index) => first + index);
  return (
    <div class="terminal-content" style={{ height: `${length * rowHeight}px` }}>
      <div class="terminal-rows" style={{ transform: `translateY(${first * rowHeight}px)` }}>
        {rows.map((row) => (
          <div key={row} class="terminal-row">
            {screenParts(buffer?.getLine(row), isFocused && row === cursorRow ? buffer?.cursorX : undefined).map(
              ({ text, style, isCursor }, index) => (
                <span key={index} class={isCursor ? 'terminal-cursor' : style}>
                  {text}
                </span>
              ),
            )}
          </div>
        ))}
      </div>
    </div>
  );
}

/** Returns how many characters fit. */
function sizeOf(scroller: HTMLElement | null, measure: HTMLElement | null): TerminalSize {
  const width = (measure?.getBoundingClientRect().width ?? 0) / 10;
  if (!scroller || width === 0) return { columns: 80, rows: 24 };
  const fit = (available: number, each: number, min: number) => Math.max(min, Math.floor(available / each));
  return {
    columns: fit(scroller.clientWidth, width, minSize.columns),
    rows: fit(scroller.clientHeight, rowHeight, minSize.rows),
  };
}
