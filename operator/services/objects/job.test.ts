import { expect, test } from '@jest/globals';
import type { Job, Pod } from '../../../kubernetes/resource-type.ts';
import { job, jobEnd, jobName, jobState } from './job.ts';
import { sampleContext, sampleService } from './testing/sample-context.ts';

const service = sampleService({ name: 'migrate', runs: 'once', command: ['migrate'] });
const context = sampleContext({ services: [service] });

test('runs a job once for each build, and again when something else of it changes', () => {
  const name = jobName(context, service);
  expect(name).toMatch(/^migrate-[0-9a-f]{12}$/);
  expect(jobName(context, { ...service, labels: { a: 'b' } })).toBe(name);
  expect(jobName({ ...context, run: '2' }, service)).not.toBe(name);
  expect(jobName(context, { ...service, command: ['other'] })).not.toBe(name);
  expect(jobName(context, { ...service, image: 'node:26' })).not.toBe(name);
  expect(jobName(context, { ...service, name: 'm'.repeat(57) }).length).toBeLessThanOrEqual(63);
});

test('names the jobs of services with a common prefix differently', () => {
  const named = (end: string) => jobName(context, { ...service, name: `${'m'.repeat(50)}${end}` });
  expect(new Set(['', '-one', '-two'].map(named)).size).toBe(3);
});

test('is retried only if its pod was removed', () => {
  const made = job(context, service);
  expect(made.metadata.labels).toMatchObject({ 'coppice.dev/service': 'migrate', owner: 'x' });
  expect(made.metadata.labels).not.toHaveProperty(['coppice.dev/build']);
  expect(made.spec).toMatchObject({
    backoffLimit: 0,
    activeDeadlineSeconds: 1800,
    podFailurePolicy: { rules: [{ action: 'Ignore', onPodConditions: [{ type: 'DisruptionTarget' }] }] },
    template: { spec: { restartPolicy: 'Never', automountServiceAccountToken: false } },
  });
});

test.each([
  [undefined, 'running'],
  [[{ type: 'SuccessCriteriaMet', status: 'True' }], 'running'],
  [[{ type: 'Complete', status: 'True' }], 'completed'],
  [[{ type: 'Failed', status: 'True' }], 'failed'],
])('reads %j as %s', (conditions, expected) => {
  expect(jobState({ status: { conditions } } as Job)).toBe(expected);
});

const launched = { startTime: '2026-01-01T00:00:00Z' };
const ending = (type: string) => ({ ...launched, conditions: [{ type, status: 'True' }] });

test.each([
  ['has completed', { ...launched, completionTime: '2026-01-01T00:00:09Z' }, ['Succeeded'], '2026-01-01T00:00:09.000Z'],
  ['is running', launched, ['Running'], '2026-01-01T00:30:00.000Z'],
  ['has ended, which its Job does not report yet', launched, ['Succeeded'], '2026-01-01T00:30:00.000Z'],
  ['is being terminated without a pod', ending('FailureTarget'), [], '2026-01-01T00:30:00.000Z'],
  ['cannot be scheduled', launched, ['Pending'], undefined],
  ['has no pod, for example because of a quota', launched, [], undefined],
  ['was just created', undefined, [], undefined],
])('returns the end of a job that %s', (_what, status, phases, expected) => {
  const live = { ...job(context, service), status } as Job;
  const pods = phases.map((phase) => ({ metadata: { name: 'p' }, status: { phase } }) as Pod);
  expect(jobEnd(live, pods)?.toISOString()).toBe(expected);
});
