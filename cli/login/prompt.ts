import { CliError } from '../errors.ts';

/** Asks for a secret, which the terminal does not show. @throws CliError if it is interrupted */
export async function askSecret(question: string): Promise<string> {
  const { stdin, stderr } = process;
  stderr.write(question);
  stdin.setRawMode(true);
  stdin.setEncoding('utf8');
  try {
    return await secretLine(stdin);
  } finally {
    stdin.setRawMode(false);
    stdin.pause();
    stderr.write('\n');
  }
}

async function secretLine(input: NodeJS.ReadStream): Promise<string> {
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
