import { describe, expect, test } from '@jest/globals';
import xterm from '@xterm/headless';
import { keySequence, pastedText } from './terminal-keys.ts';
import { screenParts } from './terminal-screen.ts';

const { Terminal } = xterm;

describe('keys', () => {
  const press = (text: string, isApplicationMode = false) => {
    const words = text.split('+');
    const key = words.at(-1) === '' ? '+' : (words.at(-1) ?? '');
    const has = (name: string) => words.slice(0, -1).includes(name);
    const modifiers = { ctrlKey: has('Ctrl'), altKey: has('Alt'), shiftKey: has('Shift'), metaKey: has('Meta') };
    return keySequence({ key: key === 'Space' ? ' ' : key, ...modifiers }, isApplicationMode);
  };

  test.each([
    ['Enter', '\r'],
    ['Backspace', '\u007f'],
    ['Ctrl+Backspace', '\b'],
    ['Tab', '\t'],
    ['Escape', '\u001b'],
    ['ArrowUp', '\u001b[A'],
    ['Ctrl+ArrowLeft', '\u001b[1;5D'],
    ['Shift+Alt+ArrowRight', '\u001b[1;4C'],
    ['Home', '\u001b[H'],
    ['Delete', '\u001b[3~'],
    ['PageUp', '\u001b[5~'],
    ['Ctrl+PageDown', '\u001b[6;5~'],
    ['F1', '\u001bOP'],
    ['F10', '\u001b[21~'],
    ['Ctrl+c', '\u0003'],
    ['Ctrl+d', '\u0004'],
    ['Ctrl+Space', '\u0000'],
    ['Ctrl+[', '\u001b'],
    ['Ctrl+\\', '\u001c'],
    ['Alt+b', '\u001bb'],
  ])('%s is sent', (key, sequence) => expect(press(key)).toBe(sequence));

  test.each([
    'a',
    'ä',
    'Shift+A',
    'Shift+Tab',
    'Ctrl+v',
    'Ctrl+Shift+C',
    'Meta+c',
    'Alt+å',
    'Ctrl+Alt+q',
    'F5',
    'F12',
    'Shift+PageUp',
    'Dead',
    'Shift',
  ])('%s is left to the browser', (key) => expect(press(key)).toBeUndefined());

  test('of the cursor differ in application mode', () => {
    expect([press('ArrowUp', true), press('End', true), press('Ctrl+End', true)]).toEqual([
      '\u001bOA',
      '\u001bOF',
      '\u001b[1;5F',
    ]);
  });
});

describe('pasted text', () => {
  test('has the line ends of the Enter key', () => expect(pastedText('a\r\nb\nc', false)).toBe('a\rb\rc'));

  test('cannot end a bracketed paste', () => {
    expect(pastedText('a\u001b[201~rm -rf', true)).toBe('\u001b[200~a[201~rm -rf\u001b[201~');
  });
});

describe('a row of the screen', () => {
  async function row(text: string, cursor?: number) {
    const terminal = new Terminal({ cols: 20, rows: 2, allowProposedApi: true });
    await new Promise<void>((resolve) => terminal.write(text, resolve));
    return screenParts(terminal.buffer.active.getLine(0), cursor);
  }
  const plain = (text: string, style = '', isCursor = false) => ({ text, style, isCursor });

  test('is its text without the empty end', async () => {
    expect(await row('a b  ')).toEqual([plain('a b')]);
    expect(await row('')).toEqual([]);
  });

  test('has colours', async () => {
    expect(await row('a\u001b[1;31mb\u001b[0;38;5;196mc\u001b[0;48;2;0;0;255md')).toEqual([
      plain('a'),
      plain('b', 'ansi-bold ansi-1'),
      plain('c', 'ansi-9'),
      plain('d', 'ansi-fill ansi-12'),
    ]);
  });

  test('shows the cursor, also behind the text', async () => {
    expect(await row('ab', 1)).toEqual([plain('a'), plain('b', '', true)]);
    expect(await row('a', 2)).toEqual([plain('a '), plain(' ', '', true)]);
  });

  test('shows wide characters once, and hidden ones not', async () => {
    expect(await row('漢x\u001b[8mpw')).toEqual([plain('漢x')]);
  });

  test('shows what a program drew over', async () => {
    expect(await row('abcdef\r\u001b[3CX\u001b[K')).toEqual([plain('abcX')]);
  });
});
