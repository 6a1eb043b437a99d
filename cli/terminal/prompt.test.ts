import { PassThrough } from 'node:stream';
import { expect, test } from '@jest/globals';
import { ask, askSecret } from './prompt.ts';

function terminal() {
  const happened: string[] = [];
  const stdin = Object.assign(new PassThrough(), { setRawMode: (isRaw: boolean) => happened.push(`raw ${isRaw}`) });
  return { happened, stdin, stderr: { write: (text: string) => happened.push(text) } };
}

test('hides what is typed before it asks for a secret', async () => {
  const { happened, ...streams } = terminal();
  const asked = askSecret('Password: ', streams);
  streams.stdin.write('wrongg\u007f\u0015right\r');
  expect(await asked).toBe('right');
  expect(happened).toEqual(['raw true', 'Password: ', 'raw false', '\n']);
});

test.each([
  ['the line', 'yes\n', 'yes'],
  ['nothing at the end of the input', undefined, ''],
])('a question returns %s', async (_name, typed, expected) => {
  const { stdin, stderr } = terminal();
  const asked = ask('Sure? ', { stdin, stderr });
  if (typed === undefined) stdin.end();
  else stdin.write(typed);
  expect(await asked).toBe(expected);
});
