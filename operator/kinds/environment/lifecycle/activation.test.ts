import { describe, expect, test } from '@jest/globals';
import { requestAnnotation, requestValue, ttlRequestValue } from '../../../../crds/requests.ts';
import { decideActivation, type ActivationInput } from './activation.ts';

const now = new Date('2026-01-01T12:00:00.000Z');
const earlier = '2026-01-01T11:00:00.000Z';
const at = (seconds: number, id = 'x') => requestValue(new Date(now.getTime() + seconds * 1000), id);

const spec = { active: true, buildOnCreate: true, ttlSeconds: undefined };
const running = { active: true, since: earlier, reason: 'Spec', specActive: true, buildPending: false } as const;
const stopped = { ...running, active: false, reason: 'DeleteRequest' } as const;

function decide(input: Partial<ActivationInput>) {
  return decideActivation({
    spec,
    annotations: undefined,
    status: {},
    defaultTtlSeconds: 0,
    isPresent: false,
    now,
    ...input,
  });
}

describe('the first reconcile of an object', () => {
  test.each([
    [true, true, { active: true, buildPending: true, started: true }],
    [true, false, { active: true, buildPending: false, started: true }],
    [false, true, { active: false, buildPending: false, started: false }],
  ])('decides for active %s and buildOnCreate %s', (active, buildOnCreate, expected) => {
    const { activation, started, ended } = decide({ spec: { ...spec, active, buildOnCreate } });
    expect({ active: activation.active, buildPending: activation.buildPending, started }).toEqual(expected);
    expect(ended).toBe(false);
  });

  test.each([
    [['create'], { active: true, buildPending: false, started: true }],
    [['create', 'build'], { active: true, buildPending: true, started: true }],
  ] as const)('carries out the requests %j that it comes with', (names, expected) => {
    const annotations = Object.fromEntries(names.map((name) => [requestAnnotation(name), at(0)]));
    const { activation, started, expiresAt } = decide({
      annotations,
      spec: { ...spec, active: false, ttlSeconds: 60 },
    });
    expect({ active: activation.active, buildPending: activation.buildPending, started }).toEqual(expected);
    expect(expiresAt).toBe('2026-01-01T12:01:00.000Z');
  });
});

describe('the TTL of the repository', () => {
  const defaultTtlSeconds = 60;

  test.each([
    ['applies if the environment sets none', undefined, { seconds: 60, since: now.toISOString() }],
    ['is not where it names one', 30, { seconds: 30, since: now.toISOString(), specSeconds: 30 }],
    ['does not apply if the environment sets 0', 0, { seconds: 0, since: now.toISOString(), specSeconds: 0 }],
  ])('%s', (_name, ttlSeconds, expected) => {
    expect(decide({ defaultTtlSeconds, spec: { ...spec, ttlSeconds } }).ttl).toEqual(expected);
  });

  test('applies only to new environments, and is not changed later', () => {
    expect(decide({ defaultTtlSeconds, status: { activation: running } }).ttl).toBeUndefined();
    const ttl = { seconds: 90, since: earlier };
    expect(decide({ defaultTtlSeconds, status: { activation: running, ttl } }).ttl).toEqual(ttl);
  });
});

describe('events', () => {
  const cases: [string, Partial<ActivationInput>, object][] = [
    ['nothing new', { status: { activation: running } }, { active: true, started: false, ended: false }],
    [
      'a spec that turns off',
      { spec: { ...spec, active: false }, status: { activation: running } },
      { active: false, reason: 'Spec', ended: false },
    ],
    [
      'a spec that turns on builds',
      { status: { activation: { ...stopped, specActive: false } } },
      { active: true, reason: 'Spec', started: true, buildPending: true },
    ],
    [
      'a re-applied spec does not undo a delete request',
      { status: { activation: stopped } },
      { active: false, started: false },
    ],
    [
      'a delete request',
      { annotations: { [requestAnnotation('delete')]: at(0) }, status: { activation: running } },
      { active: false, reason: 'DeleteRequest', ended: true },
    ],
    [
      'a create request does not build by itself',
      { annotations: { [requestAnnotation('create')]: at(0) }, status: { activation: stopped } },
      { active: true, reason: 'CreateRequest', started: true, buildPending: false },
    ],
    [
      'a rebuild request takes the contents away and keeps the object',
      { annotations: { [requestAnnotation('rebuild')]: at(0) }, status: { activation: running }, isPresent: true },
      { active: false, reason: 'RebuildRequest', rebuild: true, ended: false },
    ],
    [
      'a rebuild waits for the former contents to go',
      { status: { activation: { ...stopped, rebuild: true } }, isPresent: true },
      { active: false, rebuild: true, started: false },
    ],
    [
      'a rebuild makes new contents once the former ones are gone',
      { status: { activation: { ...stopped, reason: 'RebuildRequest', rebuild: true } } },
      { active: true, reason: 'RebuildRequest', rebuild: true, buildPending: true, started: true },
    ],
    [
      'a rebuild request where nothing is creates and builds',
      { annotations: { [requestAnnotation('rebuild')]: at(0) }, status: { activation: stopped } },
      { active: true, rebuild: true, buildPending: true, started: true },
    ],
    [
      'a second rebuild request joins the first',
      {
        annotations: { [requestAnnotation('rebuild')]: at(0) },
        status: { activation: { ...stopped, rebuild: true } },
        isPresent: true,
      },
      { active: false, rebuild: true, started: false, handledRequests: { rebuild: at(0) } },
    ],
    [
      'a delete request ends a rebuild halfway',
      {
        annotations: { [requestAnnotation('delete')]: at(0) },
        status: { activation: { ...stopped, rebuild: true } },
        isPresent: true,
      },
      { active: false, rebuild: undefined, reason: 'DeleteRequest', ended: true },
    ],
    [
      'a delete request of what is empty may take the object',
      { annotations: { [requestAnnotation('delete')]: at(0) }, status: { activation: stopped } },
      { active: false, ended: true },
    ],
    [
      'a delete request that an older object comes with takes no object',
      { annotations: { [requestAnnotation('delete')]: at(0) } },
      { active: false, ended: false },
    ],
    [
      'a create request after a delete of what is empty is the last word',
      {
        annotations: { [requestAnnotation('delete')]: at(-1), [requestAnnotation('create')]: at(0) },
        status: { activation: stopped },
      },
      { active: true, started: true, ended: false },
    ],
    [
      'create, then build',
      {
        annotations: { [requestAnnotation('create')]: at(0), [requestAnnotation('build')]: at(0, 'y') },
        status: { activation: stopped },
      },
      { active: true, started: true, buildPending: false },
    ],
    [
      'a build request',
      { annotations: { [requestAnnotation('build')]: at(0) }, status: { activation: running } },
      { active: true, buildPending: true, started: false },
    ],
    [
      'a build request of what is empty is spent without effect',
      { annotations: { [requestAnnotation('build')]: at(0) }, status: { activation: stopped } },
      { active: false, buildPending: false },
    ],
    [
      'a handled request',
      {
        annotations: { [requestAnnotation('delete')]: at(0) },
        status: { activation: running, handledRequests: { delete: at(0) } },
      },
      { active: true, ended: false },
    ],
  ];
  test.each(cases)('%s', (_name, input, expected) => {
    const { activation, ...decision } = decide(input);
    expect({ ...decision, ...activation }).toMatchObject(expected);
  });

  test('let new contents wait until the former ones are gone', () => {
    const annotations = { [requestAnnotation('create')]: at(0) };
    const waiting = decide({ annotations, isPresent: true, status: { activation: stopped } });
    expect(waiting).toMatchObject({ activation: { active: false }, started: false, handledRequests: {} });
    const bySpec = { ...stopped, specActive: false };
    expect(decide({ isPresent: true, status: { activation: bySpec } }).activation).toEqual(bySpec);
  });

  test('handle a delete and a later create as two transitions, of which the second waits', () => {
    const annotations = { [requestAnnotation('delete')]: at(-2), [requestAnnotation('create')]: at(-1) };
    const first = decide({ annotations, status: { activation: running } });
    expect(first.activation.active).toBe(false);
    expect(first.handledRequests.create).toBeUndefined();
    const second = decide({ annotations, status: first });
    expect(second.activation).toMatchObject({ active: true, reason: 'CreateRequest' });
  });
});

describe('time to live', () => {
  test('counts from when the contents were requested', () => {
    expect(decide({ spec: { ...spec, ttlSeconds: 60 } }).expiresAt).toBe('2026-01-01T12:01:00.000Z');
  });

  test.each([
    [{ seconds: 60, since: earlier, specSeconds: 60 }, false],
    [{ seconds: 7200, since: earlier, specSeconds: 60 }, true],
    [{ seconds: 0, since: earlier, specSeconds: 60 }, true],
  ])('keeps it active after %j: %s', (ttl, active) => {
    const decision = decide({ spec: { ...spec, ttlSeconds: 60 }, status: { activation: running, ttl } });
    expect(decision.activation.active).toBe(active);
    expect(decision.ended).toBe(!active);
  });

  test('restart with a changed spec and a ttl request', () => {
    const ttl = { seconds: 60, since: earlier, specSeconds: 60 };
    const bySpec = decide({ spec: { ...spec, ttlSeconds: 120 }, status: { activation: running, ttl } });
    expect(bySpec.expiresAt).toBe('2026-01-01T12:02:00.000Z');
    const annotations = { [requestAnnotation('ttl')]: ttlRequestValue(now, 'x', 300) };
    const byRequest = decide({ spec, annotations, status: { activation: running } });
    expect(byRequest.expiresAt).toBe('2026-01-01T12:05:00.000Z');
  });

  test('ignore a ttl request without seconds', () => {
    const ttl = { seconds: 7200, since: earlier, specSeconds: undefined };
    const annotations = { [requestAnnotation('ttl')]: `${at(0)}/1h` };
    const decision = decide({ annotations, status: { activation: running, ttl } });
    expect(decision).toMatchObject({ ttl, handledRequests: { ttl: `${at(0)}/1h` } });
  });

  test('keep a ttl request of an empty environment, and count it from the creation of contents', () => {
    const ttlRequest = ttlRequestValue(now, 'x', 300);
    const kept = decide({
      annotations: { [requestAnnotation('ttl')]: ttlRequest },
      status: { activation: stopped },
    });
    expect(kept).toMatchObject({ activation: { active: false }, expiresAt: undefined });
    expect(kept.handledRequests).toEqual({ ttl: ttlRequest });

    const later = new Date('2026-01-01T18:00:00.000Z');
    const annotations = { [requestAnnotation('ttl')]: ttlRequest, [requestAnnotation('create')]: at(6 * 3600) };
    const came = decide({ annotations, status: kept, now: later });
    expect(came).toMatchObject({ started: true, expiresAt: '2026-01-01T18:05:00.000Z' });
  });

  test.each([
    [0, undefined],
    [300, '2026-01-01T12:05:00.000Z'],
  ])('do not end new contents by the former TTL after a PUT with a TTL of %d', (seconds, expiresAt) => {
    const annotations = {
      [requestAnnotation('create')]: at(0),
      [requestAnnotation('build')]: at(0),
      [requestAnnotation('ttl')]: ttlRequestValue(now, 'x', seconds),
    };
    const ttl = { seconds: 8, since: earlier, specSeconds: undefined };
    const decision = decide({ annotations, status: { activation: stopped, ttl } });
    expect(decision).toMatchObject({
      started: true,
      ttl: { seconds },
      handledRequests: { ttl: annotations[requestAnnotation('ttl')] },
    });
    expect(decision.expiresAt).toBe(expiresAt);
  });

  test('apply a longer TTL that was requested in time before the former one ends', () => {
    const ttl = { seconds: 60, since: earlier, specSeconds: undefined };
    const annotations = { [requestAnnotation('ttl')]: ttlRequestValue(now, 'x', 300) };
    const decision = decide({ annotations, status: { activation: running, ttl } });
    expect(decision).toMatchObject({ activation: { active: true }, expiresAt: '2026-01-01T12:05:00.000Z' });
  });

  test('do not expire an empty environment', () => {
    const ttl = { seconds: 60, since: earlier, specSeconds: undefined };
    expect(decide({ status: { activation: stopped, ttl } })).toMatchObject({ ended: false, expiresAt: undefined });
  });
});

describe('the schedule of the repository', () => {
  const last = new Date('2026-01-01T11:30:00Z');
  const schedule = { setting: 'all 11:30 UTC', last, next: new Date('2026-01-02T11:30:00Z'), starts: now };
  const seen = { setting: schedule.setting, since: '2025-12-01T00:00:00Z' };

  test('rebuilds older contents, which are created again after their removal', () => {
    const { activation, ended } = decide({
      schedule,
      status: { activation: running, schedule: seen },
      isPresent: true,
    });
    expect(activation).toMatchObject({ active: false, reason: 'Schedule', rebuild: true });
    expect(ended).toBe(false);
    const ttl = { seconds: 86_400, since: earlier };
    const again = decide({ schedule, status: { activation, schedule: seen, ttl } });
    expect(again.activation).toMatchObject({ active: true, reason: 'Schedule', buildPending: true, rebuild: true });
    // A nightly rebuild does not extend the time to live.
    expect(again.ttl).toEqual(ttl);
    const after = decide({ schedule, status: { activation: again.activation, schedule: seen }, isPresent: true });
    expect(after.activation).toEqual(again.activation);
  });

  test.each<[string, Partial<ActivationInput>]>([
    ['an empty environment', { status: { activation: stopped, schedule: seen } }],
    [
      'an environment that the schedule excludes',
      { status: { activation: running, schedule: seen }, takesPart: () => false },
    ],
    ['newer contents', { status: { activation: { ...running, since: last.toISOString() }, schedule: seen } }],
    ['before it was set', { status: { activation: running } }],
    [
      'contents that missed their time, until they are due',
      {
        status: { activation: running, schedule: seen },
        schedule: { ...schedule, starts: new Date('2026-01-01T12:09:00Z') },
      },
    ],
  ])('does not rebuild %s', (_what, input) => {
    const { activation } = decide({ schedule, isPresent: true, ...input });
    expect(activation.reason).not.toBe('Schedule');
  });
});
