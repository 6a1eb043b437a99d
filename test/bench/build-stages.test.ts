import { expect, test } from '@jest/globals';
import type { BuildLogMessage } from '../../build-logs/message.ts';
import { pullSeconds, pushStagesOf, shortStagesOf, stageFigures, stagesOf } from './build-stages.ts';

const base = Date.parse('2026-01-01T00:00:00Z');
const at = (seconds: number) => new Date(base + seconds * 1000).toISOString();

const lines: [number, string, string][] = [
  [0.5, 'coppice', 'build 1 of the branch main'],
  [0.6, 'build', 'unchanged: its image is already in the registry'],
  [1.5, 'clone', 'cloning refs/heads/main'],
  [1.7, 'clone', 'cloned 4 files'],
  [2.2, 'build', '#1 [internal] load build definition from Dockerfile'],
  [5.2, 'build', '#7 exporting to image'],
  [5.9, 'build', '#7 pushing manifest for r/web:1@sha256:1 0.1s done'],
  [6.4, 'coppice', 'all images are in the registry; the services are being rolled out'],
  [6.5, 'build', '#7 DONE 0.7s'],
];
const log: BuildLogMessage[] = [
  ...lines.map(([time, stage, line], index) => ({ seq: index + 1, time: at(time), service: '', stage, line })),
  { seq: 10, time: at(8.4), end: { result: 'succeeded', message: 'the only service is running' } },
];
const moments = { namespace: base + 100, isolated: base + 150, service: base + 400, rolledOut: base + 7500 };
const asked = { asked: base, moments, answered: base + 8500, pulledSeconds: 0.4 };

test('splits the whole time by the lines of the log', () => {
  const seconds = Object.values(stagesOf(log, asked));
  const expected = [0.1, 0.05, 0.25, 0.1, 1, 0.2, 0.5, 3, 0.7, 0.5, 0.4, 0.7, 0.9, 0.1];
  expect(seconds).toHaveLength(expected.length);
  expected.forEach((value, index) => expect(seconds[index]).toBeCloseTo(value, 6));
  expect(seconds.reduce((sum, value) => sum + value, 0)).toBeCloseTo(8.5, 6);
});

test('returns fewer stages for a commit that was built before', () => {
  const short = log.filter((message) => !('stage' in message) || message.stage === 'coppice');
  const stages = shortStagesOf(short, asked);
  expect(Object.values(stages).map((seconds) => Math.round(seconds * 10))).toEqual([1, 1, 3, 1, 59, 4, 7, 10]);
});

test('splits the time of a push, whose environment exists', () => {
  const stages = pushStagesOf(log, { sent: base, taken: base + 100, answered: base + 7500, pulledSeconds: 0.4 });
  const expected = [0.1, 0.4, 1, 0.2, 0.5, 3, 0.7, 0.5, 0.4, 0.7];
  expect(Object.keys(stages)).toHaveLength(expected.length);
  expected.forEach((value, index) => expect(Object.values(stages)[index]).toBeCloseTo(value, 6));
});

test('reports a log without an expected line', () => {
  expect(() => stagesOf(log.slice(0, 5), asked)).toThrow('the log has no line of an export');
});

test('returns a figure for each stage, with a sample for each round', () => {
  const stages = stagesOf(log, asked);
  const figures = stageFigures('new commit', [stages, stages]);
  expect(figures.find(({ name }) => name.endsWith(': clone'))).toEqual({
    name: 'new commit: clone',
    unit: 's',
    samples: [stages.clone, stages.clone],
  });
});

test.each([
  ['Successfully pulled image "r/web@sha256:1" in 512ms (512ms including waiting). Image size: 1 bytes.', 0.512],
  ['Successfully pulled image "r/web@sha256:1" in 1.25s (2.5s including waiting). Image size: 1 bytes.', 1.25],
  ['Successfully pulled image "r/web@sha256:1" in 1m2.5s (1m3s including waiting). Image size: 1 bytes.', 62.5],
  ['Container image "r/web@sha256:1" already present on machine', 0],
])('%s', (message, seconds) => expect(pullSeconds(message)).toBeCloseTo(seconds, 6));
