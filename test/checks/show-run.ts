import { spawn } from 'node:child_process';

export interface Outcome {
  passed: number;
  failed: number;
}

/** Runs a program and prints its output when it ends, so that concurrent programs remain readable. */
export function showRun(
  name: string,
  program: string,
  args: readonly string[],
  env: Record<string, string> = {},
): Promise<{ ok: boolean }> {
  const started = Date.now();
  return new Promise((resolve) => {
    const child = spawn(program, args, { env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'pipe'] });
    const output: string[] = [];
    const take = (text: string) => output.push(text);
    child.stdout.setEncoding('utf8').on('data', take);
    child.stderr.setEncoding('utf8').on('data', take);
    const end = (ok: boolean) => {
      const seconds = ((Date.now() - started) / 1000).toFixed(1);
      console.log(`\n=== ${ok ? 'ok    ' : 'FAILED'} ${name} (${seconds} s)`);
      // A success needs few lines; jest's summary is among the last.
      console.log(ok ? output.join('').trimEnd().split('\n').slice(-8).join('\n') : output.join(''));
      resolve({ ok });
    };
    child.on('error', (error) => {
      output.push(error.message);
      end(false);
    });
    child.on('close', (code) => end(code === 0));
  });
}
