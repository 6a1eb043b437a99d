import type { Io } from '../io.ts';
import { visible } from './safe-text.ts';

const frames = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];
const frameMs = 100;

/** Shows the progress of a wait: one changing line at a terminal, otherwise a line for each change. */
export interface Progress {
  show: (text: string) => void;
  stop: () => void;
}

/** Returns the progress of a wait, on standard error. */
export function startProgress(io: Io): Progress {
  let shown = '';
  if (!io.isTerminal.err || io.env['CI'] !== undefined) {
    return {
      show: (text) => {
        if (text !== shown) io.err.write(`${visible(text)}\n`);
        shown = text;
      },
      stop: () => undefined,
    };
  }
  const startedAt = io.now();
  let frame = 0;
  const draw = () => {
    const elapsed = Math.round((io.now() - startedAt) / 1000);
    const line = `${frames[frame++ % frames.length] ?? ''} ${visible(shown).replaceAll('\n', ' ')} (${elapsed}s)`;
    io.err.write(`\r\u001b[K${line.slice(0, io.columns - 1)}`);
  };
  const timer = setInterval(draw, frameMs);
  return {
    show: (text) => {
      shown = text;
      draw();
    },
    stop: () => {
      clearInterval(timer);
      io.err.write('\r\u001b[K');
    },
  };
}
