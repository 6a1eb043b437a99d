import { expect, test } from '@jest/globals';
import type { ScriptCall } from './script.ts';
import { BuildLogWriter } from './writer.ts';

/** Returns a Redis that accepts every step, and the lines that it was sent. */
function acceptingRedis() {
  const lines: { line?: string; time?: string; message?: string }[] = [];
  const take = ({ arguments: values }: ScriptCall) => {
    const fields = Number(values[5]);
    const chunks = values.slice(6 + 2 * fields).filter((_, index) => index % 2 === 1);
    lines.push(...chunks.flatMap((text) => text.split('\n')).map((text) => JSON.parse(text) as (typeof lines)[number]));
    return Promise.resolve(1);
  };
  return {
    lines,
    redis: {
      hGetAll: () => Promise.resolve({}),
      evalSha: (_sha: string, call: ScriptCall) => take(call),
      eval: (_script: string, call: ScriptCall) => take(call),
    },
  };
}

test('masks lines, notes and the end, in the order of the calls and with their times', async () => {
  const { redis, lines } = acceptingRedis();
  let seconds = 0;
  const now = () => new Date(Date.UTC(2026, 0, 1, 0, 0, seconds++));
  const secret = 'a-secret-of-48-characters-that-is-split-in-lines';
  const writer = await BuildLogWriter.open(redis, 'uid/1', { secrets: [secret], now });
  const encoded = Buffer.from(secret).toString('base64');
  const source = { service: 'web', stage: 'build' };
  await Promise.all([
    writer.appendOnce('start', { ...source, line: `start ${secret}` }),
    writer.append('pod', [{ ...source, line: `base64 ${encoded.slice(0, 40)}` }]),
    writer.append('pod', [{ ...source, line: `${encoded.slice(40)} rest` }]),
    writer.end('succeeded', `end ${secret}`),
  ]);
  expect(JSON.stringify(lines)).not.toContain(secret);
  expect(lines.slice(0, 3).map(({ line }) => line)).toEqual(['start ***', 'base64 ***', '*** rest']);
  expect(JSON.stringify(lines[3])).toContain('end ***');
  // The lines of a source are taken in the order of their writes.
  expect([lines[0], lines[3]].map((line) => line?.time)).toEqual([
    '2026-01-01T00:00:00.000Z',
    '2026-01-01T00:00:01.000Z',
  ]);
});
