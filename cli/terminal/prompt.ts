import type { Readable } from 'node:stream';
import { CliError } from '../errors.ts';
import { visible } from '../output/safe-text.ts';

/** The streams of the terminal that a prompt uses. */
export interface Terminal {
  stdin: Readable & { setRawMode(isRaw: boolean): unknown };
  stderr: { write(text: string): unknown };
}

/** Asks a question, and returns the typed line; an empty one at the end of the input. */
export async function ask(question: string, { stdin, stderr }: Terminal = process): Promise<string> {
  stderr.write(visible(question));
  stdin.setEncoding('utf8');
  try {
    // The terminal passes on whole lines, and handles the keys that edit or interrupt.
    const text = await new Promise<string>((resolve, reject) => {
      stdin.once('data', (line) => resolve(String(line)));
      stdin.once('end', () => resolve(''));
      stdin.once('error', reject);
      stdin.resume();
    });
    return text.split(/\r?\n/, 1).join('');
  } finally {
    stdin.pause();
  }
}

/** Asks for a secret, which the terminal does not show. @throws CliError if it is interrupted */
export async function askSecret(question: string, { stdin, stderr }: Terminal = process): Promise<string> {
  // Before the question is shown, so that nothing typed in answer to it is shown.
  stdin.setRawMode(true);
  stderr.write(visible(question));
  stdin.setEncoding('utf8');
  try {
    return await secretLine(stdin);
  } finally {
    stdin.setRawMode(false);
    stdin.pause();
    stderr.write('\n');
  }
}

async function secretLine(input: Readable): Promise<string> {
  let typed: string[] = [];
  return new Promise((resolve, reject) => {
    const end = (finish: () => void) => {
      input.off('data', take);
      finish();
    };
    const take = (text: string) => {
      for (const character of text) {
        if (character === '\r' || character === '\n' || character === '\u0004') {
          end(() => resolve(typed.join('')));
          return;
        }
        if (character === '\u0003') {
          end(() => reject(new CliError('interrupted', 130)));
          return;
        }
        if (character === '\u007f' || character === '\b') typed = typed.slice(0, -1);
        else if (character === '\u0015') typed = [];
        else typed.push(character);
      }
    };
    input.on('data', take);
    input.resume();
  });
}
