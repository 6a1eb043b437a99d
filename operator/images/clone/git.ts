import { spawn } from 'node:child_process';

/** Runs git in the clone container, with `config` as its only configuration file; its messages go to the log. */
export function runGit(args: readonly string[], config: string, input?: string): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const env = { ...process.env, GIT_CONFIG_GLOBAL: config };
    const child = spawn('git', args, { env, stdio: ['pipe', 'pipe', 'inherit'] });
    const chunks: Buffer[] = [];
    child.stdout.on('data', (chunk: Buffer) => chunks.push(chunk));
    child.stdin.on('error', reject);
    child.on('error', reject);
    child.on('close', (code) => {
      if (code === 0) resolve(Buffer.concat(chunks));
      else reject(new Error(`git ${args.find((arg) => /^[a-z][a-z-]*$/.test(arg)) ?? ''} failed`));
    });
    child.stdin.end(input);
  });
}

/** Splits output of git's `-z` into its NUL-terminated entries. */
export function entriesOf(output: Buffer): string[] {
  return output.toString('utf8').split('\0').slice(0, -1);
}

/** Writes a line to the clone's log. */
export function report(line: string): void {
  process.stdout.write(`${line}\n`);
}
