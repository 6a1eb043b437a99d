import { spawn } from 'node:child_process';
import { resultOf, type Result } from './outcome.ts';

const titles: Record<Result, string> = { passed: 'ok    ', failed: 'FAILED', 'not run': 'NOT RUN' };

export interface ShowRunOptions {
  env?: Record<string, string>;
  /** How much lower the program's priority is than that of others: 0, the default, to 19. */
  niceness?: number;
}

/** Runs a program and prints its output when it ends, so that concurrent programs remain readable. */
export function showRun(
  name: string,
  program: string,
  args: readonly string[],
  { env = {}, niceness = 0 }: ShowRunOptions = {},
): Promise<Result> {
  const started = Date.now();
  // `nice` lowers the priority before the program starts threads, which only inherit it.
  const [command, ...rest] = niceness > 0 ? ['nice', '-n', `${niceness}`, program, ...args] : [program, ...args];
  return new Promise((resolve) => {
    const child = spawn(command, rest, { env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'pipe'] });
    const output: string[] = [];
    const take = (text: string) => output.push(text);
    child.stdout.setEncoding('utf8').on('data', take);
    child.stderr.setEncoding('utf8').on('data', take);
    const end = (result: Result) => {
      const seconds = ((Date.now() - started) / 1000).toFixed(1);
      console.log(`\n=== ${titles[result]} ${name} (${seconds} s)`);
      // Only a failure needs all lines; jest's summary is among the last.
      const text = output.join('');
      console.log(result === 'failed' ? text : text.trimEnd().split('\n').slice(-8).join('\n'));
      resolve(result);
    };
    child.on('error', (error) => {
      output.push(error.message);
      end('failed');
    });
    child.on('close', (code) => end(resultOf(code)));
  });
}
