import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FinishedSteps, type FinishedStep } from './finished-steps.ts';

const at = (minutes: number) => new Date(Date.UTC(2026, 0, 1, 0, minutes));
const suite = { suite: 'a.test.ts', passed: 3, failed: 0, seconds: 1.5 };
const late = { suite: 'b.test.ts', passed: 1, failed: 1, seconds: 9 };
const passed: FinishedStep = { outcome: { passed: 3, failed: 0 }, suites: [suite], failedSuites: [late] };
const failed: FinishedStep = { outcome: { passed: 0, failed: 1 }, suites: [], failedSuites: [] };

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'coppice-steps-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));
const path = () => join(folder, 'run.json');

test('continues a run with the steps that did not fail', () => {
  const first = FinishedSteps.start(path(), 'c1', at(0));
  first.add('unit', passed, at(10));
  first.add('lint', failed, at(11));
  first.add('nodes', { ...failed, outcome: { passed: 0, failed: 0, notRun: ['nodes'] } }, at(12));
  const second = FinishedSteps.continue(path(), 'c1', at(60));
  expect(['unit', 'lint', 'nodes'].map((name) => second.find(name)?.outcome)).toEqual([
    passed.outcome,
    undefined,
    { passed: 0, failed: 0, notRun: ['nodes'] },
  ]);
  expect(second.find('unit')).toEqual(passed);
  expect([second.started, second.processes, second.workedMs(at(65))]).toEqual([at(0), 2, 17 * 60_000]);
});

test('forgets the steps when a new run starts', () => {
  FinishedSteps.start(path(), 'c1', at(0)).add('unit', passed, at(10));
  FinishedSteps.start(path(), 'c1', at(20));
  expect(() => FinishedSteps.continue(path(), 'c1', at(30))).toThrow('There is no interrupted run to continue');
});

test('does not continue a run of another commit', () => {
  FinishedSteps.start(path(), 'c1', at(0)).add('unit', passed, at(10));
  expect(() => FinishedSteps.continue(path(), 'c2', at(30))).toThrow('The interrupted run is of c1');
});

test('does not continue a run that has ended', () => {
  const run = FinishedSteps.start(path(), 'c1', at(0));
  run.add('unit', passed, at(10));
  run.remove();
  expect(() => FinishedSteps.continue(path(), 'c1', at(30))).toThrow('There is no interrupted run to continue');
});
