/** The words of a command line, or why it cannot be split. */
export type ShellWords = { words: string[] } | { error: string };

const needsAShell = 'write it as a list that names the shell: ["/bin/sh", "-c", "…"]';

/**
 * Splits a command line as Compose does (go-shellwords): quotes group, a backslash escapes outside single quotes (`\t`
 * and `
 * ` are tab and newline), and nothing is expanded. Where Compose would silently truncate or reject the line (an
 * unquoted `;`, `|`, `&`, `<`, `>`, parenthesis or backquote), returns an error with what to write instead.
 */
export function splitShellWords(line: string): ShellWords {
  const words: string[] = [];
  let word: string | undefined;
  let quote: string | undefined;
  let escaped = false;
  for (const character of line) {
    if (escaped) {
      word = (word ?? '') + (escapes.get(character) ?? character);
      escaped = false;
    } else if (character === '\\' && quote !== "'") {
      escaped = true;
    } else if (quote !== undefined) {
      if (character === quote) quote = undefined;
      else word = (word ?? '') + character;
    } else if (character === '"' || character === "'") {
      quote = character;
      word ??= '';
    } else if (/[ \t\r\n]/.test(character)) {
      if (word !== undefined) words.push(word);
      word = undefined;
    } else if (/[;&|<>()`]/.test(character)) {
      return { error: `an unquoted ${character} needs a shell: ${needsAShell}` };
    } else {
      word = (word ?? '') + character;
    }
  }
  if (quote !== undefined) return { error: `the quote ${quote} is not closed: close it` };
  if (escaped) return { error: 'it ends in a backslash: remove it' };
  if (word !== undefined) words.push(word);
  return { words };
}

const escapes = new Map([
  ['t', '\t'],
  ['n', '\n'],
]);
