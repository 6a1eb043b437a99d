import { beforeEach, expect, test } from '@jest/globals';
import { ApiError } from '../../../kubernetes/api-error.ts';
import type { ConfigMap } from '../../../kubernetes/resource-type.ts';
import { silentLogger } from '../../../kubernetes/testing/silent-logger.ts';
import { Housekeeping, type HousekeepingTask, type RunReport } from './housekeeping.ts';
import { readRecord } from './record.ts';
import { RecordStore } from './record-store.ts';

const at = (time: string) => new Date(`2026-06-10T${time}:00Z`);
const minutes = 60_000;

let now: Date;
let configMap: ConfigMap | undefined;
let writes: number;
let runs: number;
let result: () => Promise<RunReport>;
let observed: string[];

beforeEach(() => {
  now = at('10:00');
  configMap = undefined;
  writes = 0;
  runs = 0;
  result = () => Promise.resolve({ message: 'two objects\nwere deleted' });
  observed = [];
});

const client = {
  find: () => Promise.resolve(configMap),
  create: async (_type: unknown, object: ConfigMap) => {
    await Promise.resolve();
    if (configMap) throw new ApiError('POST', 409, 'AlreadyExists', 'already exists');
    writes += 1;
    configMap = object;
    return object;
  },
  patch: (_type: unknown, { name }: { name: string }, { data }: { data: Record<string, string> }) => {
    if (!configMap) return Promise.reject(new ApiError(`PATCH ${name}`, 404, 'NotFound', 'not found'));
    writes += 1;
    configMap = { ...configMap, data: { ...configMap.data, ...data } };
    return Promise.resolve(configMap);
  },
};

/** An operator that starts to lead now; its task is due each hour at minute 17. */
function leader(more: Partial<HousekeepingTask> = {}): Housekeeping {
  const task: HousekeepingTask = {
    schedule: { expression: '17 * * * *', timeZone: 'UTC' },
    nextDue: () => {
      const due = new Date(now);
      due.setUTCMinutes(17, 0, 0);
      return due > now ? due : new Date(due.getTime() + 60 * minutes);
    },
    run: () => {
      runs += 1;
      return result();
    },
    ...more,
  };
  return new Housekeeping({
    tasks: new Map([
      ['orphans', task],
      ['logs', task],
    ]),
    records: new RecordStore(client as never, 'coppice-system'),
    observe: (name, { nextRun, lastRun }) =>
      void observed.push(`${name} ${lastRun?.outcome ?? '-'} ${nextRun.toISOString().slice(11, 16)}`),
    now: () => now,
    logger: silentLogger,
  });
}

const stored = () => readRecord(configMap?.data?.['orphans']);

test('runs at the due time, and stores last and next run', async () => {
  const one = leader();
  expect(await one.reconcile('orphans')).toEqual({});
  expect([runs, stored()]).toEqual([0, expect.objectContaining({ nextRun: at('10:17') })]);
  now = at('10:16');
  await one.reconcile('orphans');
  expect([runs, writes]).toEqual([0, 1]);
  now = at('10:17');
  expect(await one.reconcile('orphans')).toEqual({});
  expect(runs).toBe(1);
  expect(stored()).toEqual({
    schedule: '17 * * * *',
    timeZone: 'UTC',
    nextRun: at('11:17'),
    lastRun: { at: at('10:17'), outcome: 'succeeded', seconds: 0, message: 'two objects were deleted' },
  });
  expect(observed.at(-1)).toBe('orphans succeeded 11:17');
});

test('makes up what another leader missed, once', async () => {
  await leader().reconcile('orphans');
  now = at('14:30');
  const next = leader();
  await next.reconcile('orphans');
  await next.reconcile('orphans');
  expect([runs, stored()?.nextRun]).toEqual([1, at('15:17')]);
  await leader().reconcile('orphans');
  expect(runs).toBe(1);
});

test('makes up a run that was interrupted', async () => {
  await leader().reconcile('orphans');
  now = at('10:17');
  result = () => new Promise(() => undefined);
  void leader().reconcile('orphans');
  now = at('10:18');
  result = () => Promise.resolve({ message: 'done' });
  await leader().reconcile('orphans');
  expect([runs, stored()?.lastRun?.message]).toEqual([2, 'done']);
});

test('repeats a failed run after some minutes, also by the next leader', async () => {
  const one = leader();
  await one.reconcile('orphans');
  now = at('10:17');
  result = () => Promise.reject(new Error('the registry does not answer'));
  expect(await one.reconcile('orphans')).toEqual({ requeueAfterMs: 5 * minutes });
  expect(stored()).toMatchObject({
    nextRun: at('10:22'),
    lastRun: { outcome: 'failed', message: 'the registry does not answer' },
  });
  now = at('10:20');
  expect(await leader().reconcile('orphans')).toEqual({ requeueAfterMs: 2 * minutes });
  now = at('10:22');
  result = () => Promise.resolve({ message: 'done' });
  await leader().reconcile('orphans');
  expect(stored()).toMatchObject({ nextRun: at('11:17'), lastRun: { outcome: 'succeeded' } });
});

test('repeats a run that has more to do', async () => {
  const one = leader();
  await one.reconcile('orphans');
  now = at('10:17');
  result = () => Promise.resolve({ message: 'one orphan waits', repeatAfterMs: 6 * minutes });
  expect(await one.reconcile('orphans')).toEqual({ requeueAfterMs: 6 * minutes });
});

test('does not run before the task permits it', async () => {
  await leader().reconcile('orphans');
  now = at('10:20');
  const later = leader({ notBefore: at('10:30') });
  expect(await later.reconcile('orphans')).toEqual({ requeueAfterMs: 10 * minutes });
  now = at('10:30');
  await later.reconcile('orphans');
  expect(runs).toBe(1);
});

test('continues when somebody deletes or damages what is stored', async () => {
  const one = leader();
  await one.reconcile('orphans');
  configMap = undefined;
  now = at('10:17');
  await one.reconcile('orphans');
  expect(stored()?.nextRun).toEqual(at('11:17'));
  configMap = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'x' }, data: { orphans: 'nextRun: never' } };
  await leader().reconcile('orphans');
  expect(stored()).toEqual({ schedule: '17 * * * *', timeZone: 'UTC', nextRun: at('11:17') });
});

test('stores several tasks that start at once', async () => {
  const one = leader();
  await Promise.all([one.reconcile('orphans'), one.reconcile('logs')]);
  expect(Object.keys(configMap?.data ?? {})).toEqual(['orphans', 'logs']);
});

test('stores again what could not be stored', async () => {
  const patch = client.patch;
  client.patch = () => Promise.reject(new Error('unreachable'));
  const one = leader();
  await expect(one.reconcile('orphans')).rejects.toThrow('unreachable');
  client.patch = patch;
  await one.reconcile('orphans');
  expect(stored()?.nextRun).toEqual(at('10:17'));
});

test('ignores a task that is disabled', async () => {
  expect(await leader().reconcile('images')).toEqual({});
  await expect(leader().reconcile('other')).rejects.toThrow();
});
