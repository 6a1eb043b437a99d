import type { Io } from '../io.ts';

type Colour = 'red' | 'green' | 'yellow' | 'dim' | 'bold';
const codes: Readonly<Record<Colour, string>> = { red: '31', green: '32', yellow: '33', dim: '2', bold: '1' };

/** Returns whether standard output or error is coloured (https://no-color.org). */
export function hasColours({ isTerminal, env }: Io, stream: 'out' | 'err'): boolean {
  return isTerminal[stream] && (env['NO_COLOR'] ?? '') === '' && env['TERM'] !== 'dumb';
}

/** Returns the text in a colour, if colours are enabled. */
export function coloured(text: string, colour: Colour, isColoured: boolean): string {
  return isColoured ? `\u001b[${codes[colour]}m${text}\u001b[0m` : text;
}
