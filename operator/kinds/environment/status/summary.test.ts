import { expect, test } from '@jest/globals';
import { Stalled, Waiting } from '../../../shared/errors.ts';
import { summarize, type SummaryInput } from './summary.ts';

const base: SummaryInput = {
  state: 'built',
  present: true,
  wanted: true,
  deleting: false,
  expired: undefined,
  asleep: false,
  waking: false,
  buildPending: false,
  build: undefined,
  available: true,
  waitingFor: [],
  givesUpAt: undefined,
  wasReady: false,
  error: undefined,
};
const expired = { at: '2026-01-01T00:07:00.123Z', seconds: 60 };
const startedAt = '2026-01-01T00:00:00Z';

const cases: [Partial<SummaryInput>, string, 'Ready' | 'Reconciling' | 'Stalled'][] = [
  [{}, 'Built', 'Ready'],
  [{ available: undefined }, 'ServicesUnavailable', 'Reconciling'],
  [{ available: undefined, asleep: true }, 'Asleep', 'Ready'],
  [{ available: false, waking: true }, 'Waking', 'Reconciling'],
  [{ asleep: true, build: { number: 2, result: 'failed', startedAt, message: 'boom' } }, 'BuildFailed', 'Stalled'],
  [{ state: 'created', available: undefined }, 'Created', 'Ready'],
  [{ state: 'empty', present: false, wanted: false }, 'Empty', 'Ready'],
  [{ state: 'empty', present: false, wanted: false, expired }, 'Expired', 'Ready'],
  [{ wanted: false, expired }, 'RemovingContents', 'Reconciling'],
  [{ deleting: true, error: new Error('a') }, 'Terminating', 'Reconciling'],
  [{ state: 'empty', wanted: false }, 'RemovingContents', 'Reconciling'],
  [{ state: 'built', wanted: false }, 'RemovingContents', 'Reconciling'],
  [{ state: 'empty' }, 'Creating', 'Reconciling'],
  [{ state: 'created', buildPending: true }, 'BuildPending', 'Reconciling'],
  [{ state: 'building', build: { number: 1, result: 'running', startedAt } }, 'Building', 'Reconciling'],
  [{ build: { number: 2, result: 'failed', startedAt, message: 'boom' } }, 'BuildFailed', 'Stalled'],
  [{ available: false, waitingFor: ['api: CrashLoopBackOff'] }, 'ServicesUnavailable', 'Reconciling'],
  [{ error: new Stalled('RefNotFound', 'no') }, 'RefNotFound', 'Stalled'],
  [{ error: new Waiting('CollectingLogs', 'soon', 1) }, 'CollectingLogs', 'Reconciling'],
  [{ error: new Error('a', { cause: new Error('b') }) }, 'Retrying', 'Reconciling'],
];

test.each(cases)('summarizes %j as %s, %s', (change, reason, type) => {
  const reports = summarize({ ...base, ...change });
  expect(reports.filter(({ status }) => status === 'True').map((report) => report.type)).toEqual([type]);
  expect(new Set(reports.map((report) => report.reason))).toEqual(new Set([reason]));
});

test('reports when the time to live ended', () => {
  const [report] = summarize({ ...base, state: 'empty', present: false, wanted: false, expired });
  expect(report?.message).toBe('the environment is empty since 2026-01-01T00:07:00Z: its time to live of 60 s ended');
});

test('does not report a wait as no failure', () => {
  const reports = summarize({ ...base, error: new Waiting('RepositoryNotFound', 'waiting for the Repository', 1) });
  expect(reports.map(({ message }) => message)).toEqual([
    'waiting for the Repository',
    'waiting for the Repository',
    'Coppice waits, and continues by itself. The condition Reconciling says for what',
  ]);
});

test('reports an unknown error with its cause', () => {
  const [report] = summarize({ ...base, error: new Error('writing', { cause: new Error('no disk') }) });
  expect(report?.message).toBe('writing: no disk. Coppice retries this');
});

const passing = new Error('the API server does not answer');

test.each<[string, Partial<SummaryInput>, string[]]>([
  ['before its services are read', { available: undefined }, []],
  ['when something fails on the way', { available: undefined, error: passing }, ['Reconciling', 'Stalled']],
  ['when its services do not run', { available: false }, ['Ready', 'Reconciling', 'Stalled']],
  ['when it cannot go on', { error: new Stalled('RefNotFound', 'no') }, ['Ready', 'Reconciling', 'Stalled']],
  ['when a build is asked for', { available: undefined, buildPending: true }, ['Ready', 'Reconciling', 'Stalled']],
])('reports %s of an environment that was ready: %s', (_what, change, types) => {
  const reports = summarize({ ...base, ...change, wasReady: true });
  expect(reports.map(({ type }) => type)).toEqual(types);
});

test('reports the whole result of a build only in the condition Built', () => {
  const message = `not ready after 90 s: web: exit code 1: ${'x'.repeat(300)}\n${'at main\n'.repeat(20)}`;
  const reports = summarize({ ...base, build: { number: 2, result: 'failed', startedAt, message } });
  for (const { message: reported } of reports) expect(reported.length).toBeLessThanOrEqual(200);
  expect(reports[0]?.message).toMatch(/^not ready after 90 s: web: exit code 1: x+…$/);
});

test('marks a message that continues on further lines', () => {
  const [ready, under] = summarize({ ...base, available: false, waitingFor: ['web: crash\nat main'] });
  expect(ready?.message).toBe('waiting for web: crash …');
  expect(under?.message).toBe('waiting for web: crash\nat main');
});
