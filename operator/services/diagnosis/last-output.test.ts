import { expect, test } from '@jest/globals';
import type { Pod } from '../../../kubernetes/resource-type.ts';
import { silentLogger } from '../../../kubernetes/testing/silent-logger.ts';
import { LastOutput } from './last-output.ts';

const time = '2026-01-01T00:00:00.000000000Z';

function pod(service: string, name: string, status: object): Pod {
  return {
    metadata: { namespace: 'env-x', name, labels: { 'coppice.dev/service': service }, creationTimestamp: name },
    status: { containerStatuses: [{ name: service, restartCount: 0, ...status }] },
  } as unknown as Pod;
}

function lastOutput(pods: Pod[], texts: (previous: boolean) => string[]) {
  const asked: unknown[] = [];
  const podLog = async function* (
    { name }: { name: string },
    { previous = false, tailLines }: { previous?: boolean; tailLines?: number },
  ) {
    asked.push([name, previous, tailLines]);
    for (const text of texts(previous)) yield await Promise.resolve(`${time} ${text}`);
  };
  const options = { client: { podLog }, pods: { byIndex: () => pods }, logger: silentLogger };
  return { output: new LastOutput(options), asked };
}

const shown = (outputs: { lines: { line: string }[] }[]) => outputs.map(({ lines }) => lines.map(({ line }) => line));

test('reads the output of the ended and the current run, of the newest pod', async () => {
  const crashing = { restartCount: 3, state: { running: {} }, lastState: { terminated: { exitCode: 1 } } };
  const pods = [pod('web', 'web-1', {}), pod('web', 'web-2', crashing), pod('db', 'db-1', { state: { running: {} } })];
  const { output, asked } = lastOutput(pods, (previous) => (previous ? ['Error: no database', 'at main'] : ['starts']));
  const outputs = await output.of('env-x', ['web']);
  expect(asked).toEqual([
    ['web-2', true, 100],
    ['web-2', false, 100],
  ]);
  expect(outputs.map(({ source }) => source)).toEqual(['web-2/web/3', 'web-2/web/4']);
  expect(shown(outputs)).toEqual([
    ['the last lines that web wrote before it exited (start 3):', 'Error: no database', 'at main'],
    ['the last lines that web wrote since it was started (start 4):', 'starts'],
  ]);
  expect(outputs[0]?.lines[1]).toEqual({ service: 'web', stage: 'run', time, line: 'Error: no database' });
});

test('returns at most the last 16 KiB', async () => {
  const pods = [pod('web', 'web-1', { state: { terminated: { exitCode: 1 } } })];
  const { output } = lastOutput(pods, () => Array.from({ length: 100 }, (_, index) => `${index}`.padEnd(1000, '.')));
  const [[heading, ...lines] = []] = shown(await output.of('env-x', ['web']));
  expect(heading).toContain('before it exited (start 1)');
  expect(lines.at(-1)).toMatch(/^99\./);
  expect(lines.length).toBe(16);
});

test('returns nothing for a container that never ran, or whose log is gone', async () => {
  const waiting = { state: { waiting: { reason: 'ImagePullBackOff' } } };
  const { output, asked } = lastOutput([pod('web', 'web-1', waiting)], () => ['never']);
  expect(await output.of('env-x', ['web', 'db'])).toEqual([]);
  expect(asked).toEqual([]);
  const gone = lastOutput([pod('web', 'web-1', { state: { terminated: { exitCode: 1 } } })], () => {
    throw new Error('gone');
  });
  expect(await gone.output.of('env-x', ['web'])).toEqual([]);
});
