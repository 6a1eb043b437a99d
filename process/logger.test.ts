import { expect, test } from '@jest/globals';
import { createLogger } from './logger.ts';

test('writes the name of the level and an RFC 3339 time', () => {
  const lines: string[] = [];
  const logger = createLogger('info', { write: (line) => void lines.push(line) });
  logger.warn({ err: new Error('gone') }, 'the connection failed');
  logger.child({ controller: 'group' }).error('it failed');
  logger.debug('not this one');
  const [first, second, ...others] = lines.map((line) => JSON.parse(line) as { time: string });
  expect(others).toEqual([]);
  expect(first).toMatchObject({ level: 'warn', msg: 'the connection failed', err: { message: 'gone' } });
  expect(second).toMatchObject({ level: 'error', controller: 'group' });
  expect(first?.time).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
});
