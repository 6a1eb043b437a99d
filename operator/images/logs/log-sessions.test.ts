import { expect, test } from '@jest/globals';
import { pino } from 'pino';
import type { BuildLogWriter } from '../../../build-logs/writer.ts';
import { LogSessions, type LogSessionsOptions } from './log-sessions.ts';

const log = { logId: 'uid/1', environmentKey: 'group-g/x', namespace: 'env-x', buildNumber: 1 };
const line = { service: '', stage: 'coppice', line: 'a line' };

/** Returns sessions, and the secrets with which each of their writers was opened. */
function sessions() {
  const masked: string[][] = [];
  const options = {
    client: {},
    pods: { byIndex: () => [] },
    openWriter: (_logId: string, secrets: string[]) => {
      masked.push(secrets);
      return Promise.resolve({ appendOnce: () => Promise.resolve() } as unknown as BuildLogWriter);
    },
    onEnded: () => Promise.resolve(),
    enqueue: () => undefined,
    logger: pino({ level: 'silent' }),
  };
  return { sessions: new LogSessions(options as unknown as LogSessionsOptions), masked };
}

test('masks every secret that is known so far, and forgets none', async () => {
  const { sessions: made, masked } = sessions();
  await made.open({ ...log, secrets: ['a'] }).note('1', line);
  const more = made.open({ ...log, secrets: ['b'] });
  await more.note('2', line);
  expect(masked).toEqual([['a'], ['a', 'b']]);
  expect(made.open({ ...log, secrets: [] })).toBe(more);
  expect(made.open({ ...log, secrets: ['a', 'b'] })).toBe(more);
});

test('starts a closed log again', () => {
  const { sessions: made } = sessions();
  const first = made.open({ ...log, secrets: [] });
  made.close(log.logId);
  expect(made.open({ ...log, secrets: [] })).not.toBe(first);
});

test('keeps equal secrets of many builds once, and none of closed logs', () => {
  const { sessions: made } = sessions();
  const open = (build: number, secrets: string[]) => made.open({ ...log, logId: `uid/${build}`, secrets });
  for (let build = 0; build < 10; build++) open(build, ['common', `own ${build}`]);
  open(0, ['common', 'own 0', 'more']);
  expect(made.texts).toBe(12);
  for (let build = 0; build < 10; build++) made.close(`uid/${build}`);
  made.close('uid/0');
  expect(made.texts).toBe(0);
});
