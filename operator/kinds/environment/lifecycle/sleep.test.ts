import { describe, expect, test } from '@jest/globals';
import type { EnvironmentStatus } from '../../../../crds/environment.ts';
import type { BuildStatus } from '../../../../crds/environment-build.ts';
import type { SleepSettings, SleepStatus } from '../../../../crds/sleep.ts';
import { requestAnnotation } from '../../../../crds/requests.ts';
import { decideSleep, keptAwake, requestedSleep } from './sleep.ts';

// A Friday.
const at = (time: string, day = '2026-11-20') => `${day}T${time}:00.000Z`;
const built: BuildStatus = {
  number: 1,
  result: 'succeeded',
  trigger: 'create',
  startedAt: at('08:00'),
  finishedAt: at('08:05'),
};
const workdays: SleepSettings = {
  workingHours: { days: ['mon', 'tue', 'wed', 'thu', 'fri'], from: '08:00', to: '18:00', timeZone: 'UTC' },
};
const asleepBy = (reason: SleepStatus['reason'], since = at('18:00')): SleepStatus => ({ asleep: true, since, reason });
const awakeSince = (since: string): SleepStatus => ({ asleep: false, since, reason: 'Requested' });
const running = (trigger: BuildStatus['trigger'], startedAt: string): BuildStatus => {
  return { number: 2, result: 'running', trigger, startedAt };
};

function decide(settings: SleepSettings, status: Partial<EnvironmentStatus>, now: string, isBusy = false) {
  const { sleep, next } = decideSleep({
    ...{ settings, isBusy, canWatch: false, now: new Date(now) },
    status: { build: built, deployed: built, ...status },
  });
  return [sleep && `${sleep.asleep ? 'asleep' : 'awake'} ${sleep.reason}`, next?.toISOString()];
}

const never = undefined;
const monday = at('08:00', '2026-11-23');

test.each<[string, SleepSettings, Partial<EnvironmentStatus>, string, string | undefined, string | undefined]>([
  ['without settings', {}, {}, at('23:00'), never, undefined],
  ['in working hours', workdays, {}, at('17:59'), never, at('18:00')],
  ['at their end', workdays, {}, at('18:00'), 'asleep OutsideWorkingHours', monday],
  ['soon after a build', workdays, { build: { ...built, finishedAt: at('17:55') } }, at('18:00'), never, at('18:10')],
  [
    'soon after it was woken',
    workdays,
    { sleep: awakeSince(at('20:00')) },
    at('20:10'),
    'awake Requested',
    at('20:15'),
  ],
  ['later', workdays, { sleep: awakeSince(at('20:00')) }, at('20:15'), 'asleep OutsideWorkingHours', monday],
  ['during a build', workdays, { build: running('build', at('18:20')) }, at('18:40'), never, undefined],
  ['without a deployed build', workdays, { deployed: undefined }, at('18:00'), never, undefined],
  [
    'in the next working hours',
    workdays,
    { sleep: asleepBy('OutsideWorkingHours') },
    monday,
    'awake WorkingHours',
    at('18:00', '2026-11-23'),
  ],
  [
    'once there are no working hours',
    {},
    { sleep: asleepBy('OutsideWorkingHours') },
    at('19:00'),
    'awake WorkingHours',
    undefined,
  ],
  [
    'in working hours, as requested',
    workdays,
    { sleep: asleepBy('Requested', at('09:00')) },
    at('10:00'),
    'asleep Requested',
    at('18:00'),
  ],
  [
    'for a build',
    {},
    { sleep: asleepBy('Requested'), build: running('build', at('19:00')) },
    at('19:00'),
    'awake Build',
    undefined,
  ],
  [
    'for a scheduled rebuild',
    {},
    { sleep: asleepBy('Requested'), build: running('schedule', at('19:00')) },
    at('19:00'),
    'awake Build',
    undefined,
  ],
  [
    'for a new commit',
    {},
    { sleep: asleepBy('Requested'), build: running('commit', at('19:00')) },
    at('19:00'),
    'asleep Requested',
    undefined,
  ],
  [
    'for a new commit that wakes',
    { wakeOnCommit: true },
    { sleep: asleepBy('Requested'), build: running('commit', at('19:00')) },
    at('19:00'),
    'awake Build',
    undefined,
  ],
  [
    'for a build from before',
    {},
    { sleep: asleepBy('Requested'), build: running('build', at('17:59')) },
    at('19:00'),
    'asleep Requested',
    undefined,
  ],
])('sleeps and wakes %s', (_what, settings, status, now, expected, next) => {
  expect(decide(settings, status, now)).toEqual([expected, next]);
});

test('stays awake while volumes are published', () => {
  expect(decide(workdays, {}, at('18:00'), true)).toEqual([undefined, undefined]);
});

describe('tests', () => {
  const decideAt = (now: string, sleep: SleepStatus | undefined, more: { isTested?: boolean; requested?: string }) => {
    const decided = decideSleep({
      ...{ settings: workdays, isBusy: false, canWatch: false, now: new Date(now) },
      status: { build: built, deployed: built, sleep },
      isTested: more.isTested === true,
      testsRequestedAt: more.requested === undefined ? undefined : Date.parse(more.requested),
    });
    return [decided.sleep?.asleep, decided.next?.toISOString()];
  };

  test('keep it awake while they run, and requeue it', () => {
    expect(decideAt(at('18:00'), undefined, { isTested: true })).toEqual([undefined, at('18:01')]);
  });

  test.each([
    ['requested later wake it', at('19:00'), false],
    ['requested before it was put to sleep do not', at('17:00'), true],
  ])('%s', (_what, requested, isAsleep) => {
    const sleep = asleepBy('Requested', at('18:00'));
    expect(decideAt(at('19:00'), sleep, { requested })[0]).toBe(isAsleep);
  });
});

describe('while the waker can watch for visits', () => {
  const hour = { afterSeconds: 3600 };
  const watching = (watchedSince: string, visitedAt?: string): SleepStatus => ({
    ...{ asleep: false, since: at('08:05'), reason: 'Build', watchedSince },
    ...(visitedAt !== undefined && { visitedAt }),
  });
  const seen = (sleep: SleepStatus | undefined, now: string, visit?: string, settings: SleepSettings = hour) => {
    const decided = decideSleep({
      status: { build: built, deployed: built, sleep },
      ...{ settings, isBusy: false, canWatch: true, now: new Date(now) },
      visit: visit === undefined ? undefined : new Date(visit),
    });
    const { asleep, watchedSince, visitedAt, reason } = decided.sleep ?? {};
    return {
      next: decided.next?.toISOString(),
      ...(decided.isConditional && { isConditional: true }),
      ...(asleep === true && { asleep: reason }),
      ...(watchedSince !== undefined && { watchedSince }),
      ...(visitedAt !== undefined && { visitedAt }),
    };
  };

  test.each<[string, SleepStatus | undefined, string, string | undefined, object]>([
    ['some minutes after a build', undefined, at('08:14'), undefined, { next: at('08:15') }],
    ['then', undefined, at('08:15'), undefined, { next: at('09:15'), watchedSince: at('08:15') }],
    ['in the period', watching(at('08:15')), at('09:00'), undefined, { next: at('09:15'), watchedSince: at('08:15') }],
    [
      'after a period without one',
      watching(at('08:15')),
      at('09:15'),
      undefined,
      { next: undefined, asleep: 'Idle', isConditional: true },
    ],
    ['a visit', watching(at('08:15')), at('09:00'), at('09:00'), { next: at('09:10'), visitedAt: at('09:00') }],
    [
      'a visit from before the watch',
      watching(at('08:15')),
      at('09:00'),
      at('08:14'),
      { next: at('09:15'), watchedSince: at('08:15') },
    ],
    [
      'a connection that was open',
      watching(at('08:15'), at('09:15')),
      at('10:00'),
      undefined,
      { next: at('10:15'), watchedSince: at('08:15'), visitedAt: at('09:15') },
    ],
  ])('%s', (_what, sleep, now, visit, expected) => {
    expect(seen(sleep, now, visit)).toEqual(expected);
  });

  test('watches outside of working hours, until somebody came or nobody did for a while', () => {
    const watched = watching(at('18:00'));
    expect(seen(undefined, at('17:59'), undefined, workdays)).toEqual({ next: at('18:00') });
    expect(seen(undefined, at('18:00'), undefined, workdays)).toEqual({ next: at('18:15'), watchedSince: at('18:00') });
    expect(seen(watched, at('18:10'), at('18:10'), workdays)).toEqual({
      next: new Date(Date.parse(at('18:10')) + 225_000).toISOString(),
      visitedAt: at('18:10'),
    });
    expect(seen(watched, at('18:15'), undefined, workdays)).toEqual({
      ...{ next: monday, asleep: 'OutsideWorkingHours', isConditional: true },
    });
    expect(seen(watching(at('07:00', '2026-11-23')), monday, undefined, workdays)).toEqual({
      next: at('18:00', '2026-11-23'),
    });
  });

  test('stays awake while somebody is connected, and is watched further', () => {
    const { sleep, next } = keptAwake(watching(at('08:15')), hour, new Date(at('09:15')));
    expect(sleep).toEqual(watching(at('08:15'), at('09:15')));
    expect(next?.toISOString()).toBe(at('10:15'));
  });

  test('sleeps on in working hours until somebody comes', () => {
    const both = { ...workdays, ...hour };
    expect(decide(both, { sleep: asleepBy('OutsideWorkingHours') }, monday)[0]).toBe('asleep OutsideWorkingHours');
  });
});

test('never sleeps for want of visits where the waker cannot see them', () => {
  expect(decide({ afterSeconds: 60 }, {}, at('20:00'))).toEqual([undefined, undefined]);
});

describe('requests', () => {
  const now = new Date(at('12:00'));
  const sleep = { [requestAnnotation('sleep')]: `${at('11:00')}/a` };
  const wake = { [requestAnnotation('wake')]: `${at('11:30')}/b` };
  const asleep = asleepBy('OutsideWorkingHours', at('10:00'));

  test.each<[string, Record<string, string>, Partial<EnvironmentStatus>, SleepStatus | undefined]>([
    ['to sleep', sleep, {}, { asleep: true, since: at('12:00'), reason: 'Requested' }],
    ['to wake, the newer one', { ...sleep, ...wake }, {}, { asleep: false, since: at('12:00'), reason: 'Requested' }],
    [
      'to wake, by a visit',
      { [requestAnnotation('wake')]: `${at('11:30')}/visit` },
      { sleep: asleep },
      { asleep: false, since: at('12:00'), reason: 'Visited' },
    ],
    ['to sleep while asleep', sleep, { sleep: asleep }, asleep],
    ['that were handled', sleep, { handledRequests: { sleep: `${at('11:00')}/a` } }, undefined],
    ['without a deployed build', sleep, { deployed: undefined }, undefined],
  ])('%s', (_what, annotations, status, expected) => {
    expect(requestedSleep(annotations, { deployed: built, ...status }, now).sleep).toEqual(expected);
  });

  test('are recorded as handled, also without effect', () => {
    const { handledRequests } = requestedSleep({ ...sleep, ...wake }, { handledRequests: { ttl: 't' } }, now);
    expect(handledRequests).toEqual({ ttl: 't', sleep: `${at('11:00')}/a`, wake: `${at('11:30')}/b` });
  });
});
