import { NOT_RUN_STATUS, NotRun, Problem } from './problem.ts';

/** Reports what a running step is doing; shown only in a terminal's live line. */
export type Detail = (text: string) => void;

/** A finished step, in seconds since the start. */
export interface StepTime {
  name: string;
  start: number;
  seconds: number;
}

export interface Progress {
  /** Runs a step, and shows its name, start and duration. Steps can run concurrently. */
  step<T>(name: string, action: (detail: Detail) => Promise<T>): Promise<T>;
  /** The finished steps in the order of their ends. */
  readonly steps: readonly StepTime[];
}

/** The part of a standard stream that is used for progress. */
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
 * of more than a second is announced, and reported every 30 s.
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

/**
 * Runs a script's main function. A Problem ends the process with one line, any other error with its stack, and NotRun with a
 * status of its own.
 */
export async function runMain(main: () => Promise<void>): Promise<void> {
  try {
    await main();
  } catch (error) {
    if (error instanceof NotRun) {
      console.log(`Not run: ${error.message}`);
      process.exitCode = NOT_RUN_STATUS;
      return;
    }
    console.error(error instanceof Problem ? `\n${error.message}` : error);
    process.exitCode = 1;
  }
}
