import type { Socket } from 'node:net';

/** Maximum length of a line in characters: an environment with many routes takes some kilobytes. */
const maxLine = 1024 * 1024;

/** Yields the JSON value of each line that a socket receives. @throws Error for a line that is too long or no JSON */
export async function* jsonLines(socket: Socket): AsyncGenerator {
  let rest = '';
  socket.setEncoding('utf8');
  for await (const chunk of socket as AsyncIterable<string>) {
    const lines = (rest + chunk).split('\n');
    rest = lines.pop() ?? '';
    if (rest.length > maxLine) throw new Error(`a line has more than ${maxLine} characters`);
    for (const line of lines) yield JSON.parse(line) as unknown;
  }
}

export function sendLine(socket: Socket, value: object): void {
  socket.write(`${JSON.stringify(value)}\n`);
}
