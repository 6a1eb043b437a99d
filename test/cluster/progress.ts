import { Problem } from './problem.ts';

/** Reports what a running step does right now; shown on a terminal's live line only. */
export type Detail = (text: string) => void;

/** One step that ended, in seconds since the start. */
export interface StepTime {
  name: string;
  start: number;
  seconds: number;
}

export interface Progress {
  /** Runs one step and shows its name, the time since the start, and how long it took. Steps may run side by side. */
  step<T>(name: string, action: (detail: Detail) => Promise<T>): Promise<T>;
  /** The steps that ended, in the order in which they did. */
  readonly steps: readonly StepTime[];
}

/** The part of a standard stream that progress is written to. */
type Output = Pick<NodeJS.WriteStream, 'isTTY' | 'columns'> & { write: (text: string) => unknown };

interface RunningStep {
  name: string;
  start: number;
  detail: string;
  nextReport: number;
}

const second = 1000;
const inSeconds = (milliseconds: number): string => `${(milliseconds / second).toFixed(1)}s`;

/**
 * Shows steps as lines `== 12.3s  name (3.2s)`. On a terminal the running steps share one live line; elsewhere a step
 * that takes longer than a second is announced, and reported again every half minute.
 */
export function startProgress(output: Output = process.stdout): Progress {
  const startedAt = Date.now();
  const steps: StepTime[] = [];
  const running = new Set<RunningStep>();
  const line = (text: string) => `== ${inSeconds(Date.now() - startedAt).padStart(6)}  ${text}`;
  const print = (text: string) => output.write(`${output.isTTY ? '\r\u001b[K' : ''}${line(text)}\n`);
  const describe = ({ name, start, detail }: RunningStep) =>
    `${name} … ${inSeconds(Date.now() - start)}${detail && `  ${detail}`}`;

  function showLive(): void {
    const text = line([...running].map(describe).join(' | '));
    output.write(`\r\u001b[K${text.slice(0, Math.max(20, (output.columns || 80) - 1))}`);
  }

  function reportLong(): void {
    for (const one of running) {
      if (Date.now() < one.nextReport) continue;
      one.nextReport = Date.now() + 30 * second;
      print(`${one.name} …${one.detail && ` ${one.detail}`}`);
    }
  }

  let timer: NodeJS.Timeout | undefined;

  async function step<T>(name: string, action: (detail: Detail) => Promise<T>): Promise<T> {
    const start = Date.now();
    const one: RunningStep = { name, start, detail: '', nextReport: start + second };
    running.add(one);
    timer ??= setInterval(output.isTTY ? showLive : reportLong, 200);
    try {
      const result = await action((text) => {
        one.detail = text.replace(/\s+/g, ' ').trim();
      });
      steps.push({ name, start: (start - startedAt) / second, seconds: (Date.now() - start) / second });
      print(`${name} (${inSeconds(Date.now() - start)})`);
      return result;
    } catch (error) {
      print(`${name}: failed after ${inSeconds(Date.now() - start)}`);
      throw error;
    } finally {
      running.delete(one);
      if (running.size === 0) {
        clearInterval(timer);
        timer = undefined;
      }
    }
  }
  return { step, steps };
}

/** Runs a script's main function; a Problem ends it with one line, anything else with its stack. */
export async function runMain(main: () => Promise<void>): Promise<void> {
  try {
    await main();
  } catch (error) {
    console.error(error instanceof Problem ? `\n${error.message}` : error);
    process.exitCode = 1;
  }
}
