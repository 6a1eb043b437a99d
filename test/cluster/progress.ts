import { Problem } from './problem.ts';

/** Tells what a running step is doing right now; shown on a terminal's live line only. */
export type Detail = (text: string) => void;

export interface Progress {
  /** Runs one step and shows its name, the time since the start, and how long it took. */
  step<T>(what: string, action: (detail: Detail) => Promise<T>): Promise<T>;
}

const second = 1000;
const seconds = (milliseconds: number): string => `${(milliseconds / second).toFixed(1)}s`;

/**
 * Steps as lines `== 12.3s  what (3.2s)`. On a terminal the running step is a live line with its own time and detail;
 * elsewhere a step that takes longer than a second is announced, and told of again every half minute.
 */
export function startProgress(output: NodeJS.WriteStream = process.stdout): Progress {
  const start = Date.now();
  const line = (text: string) => `== ${seconds(Date.now() - start).padStart(6)}  ${text}`;
  const say = (text: string) => output.write(`${output.isTTY ? '\r\u001b[K' : ''}${line(text)}\n`);

  async function step<T>(what: string, action: (detail: Detail) => Promise<T>): Promise<T> {
    const begun = Date.now();
    const took = () => seconds(Date.now() - begun);
    let latest = '';
    let told = begun - 29 * second; // so that the first plain line comes after one second
    const timer = setInterval(() => {
      if (output.isTTY) {
        const text = line(`${what} … ${took()}${latest && `  ${latest}`}`);
        output.write(`\r\u001b[K${text.slice(0, Math.max(20, (output.columns || 80) - 1))}`);
      } else if (Date.now() - told >= 30 * second) {
        told = Date.now();
        say(`${what} …${latest && ` ${latest}`}`);
      }
    }, 200);
    try {
      const result = await action((text) => {
        latest = text.replace(/\s+/g, ' ').trim();
      });
      say(`${what} (${took()})`);
      return result;
    } catch (error) {
      say(`${what}: failed after ${took()}`);
      throw error;
    } finally {
      clearInterval(timer);
    }
  }
  return { step };
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
