import { describe, expect, test } from '@jest/globals';
import { requestAnnotation, requestValue, ttlRequestValue } from '../../crds/requests.ts';
import { decideActivation, type ActivationInput } from './activation.ts';

const now = new Date('2026-01-01T12:00:00.000Z');
const earlier = '2026-01-01T11:00:00.000Z';
const at = (seconds: number, id = 'x') => requestValue(new Date(now.getTime() + seconds * 1000), id);

const spec = { active: true, buildOnCreate: true, ttlSeconds: undefined };
const running = { active: true, since: earlier, reason: 'Spec', specActive: true, buildPending: false } as const;
const stopped = { ...running, active: false, reason: 'DeleteRequest' } as const;

function decide(input: Partial<ActivationInput>) {
  return decideActivation({ spec, annotations: undefined, status: {}, isPresent: false, now, ...input });
}

describe('the first look at an object', () => {
  test.each([
    [true, true, { active: true, buildPending: true, began: true }],
    [true, false, { active: true, buildPending: false, began: true }],
    [false, true, { active: false, buildPending: false, began: false }],
  ])('active %s, buildOnCreate %s', (active, buildOnCreate, expected) => {
    const { activation, began, ended } = decide({ spec: { ...spec, active, buildOnCreate } });
    expect({ active: activation.active, buildPending: activation.buildPending, began }).toEqual(expected);
    expect(ended).toBe(false);
  });
});

describe('events', () => {
  const cases: [string, Partial<ActivationInput>, object][] = [
    ['nothing new', { status: { activation: running } }, { active: true, began: false, ended: false }],
    [
      'a spec that turns off',
      { spec: { ...spec, active: false }, status: { activation: running } },
      { active: false, reason: 'Spec', ended: false },
    ],
    [
      'a spec that turns on builds',
      { status: { activation: { ...stopped, specActive: false } } },
      { active: true, reason: 'Spec', began: true, buildPending: true },
    ],
    [
      'a re-applied spec does not undo a delete request',
      { status: { activation: stopped } },
      { active: false, began: false },
    ],
    [
      'a delete request',
      { annotations: { [requestAnnotation('delete')]: at(0) }, status: { activation: running } },
      { active: false, reason: 'DeleteRequest', ended: true },
    ],
    [
      'a create request does not build by itself',
      { annotations: { [requestAnnotation('create')]: at(0) }, status: { activation: stopped } },
      { active: true, reason: 'CreateRequest', began: true, buildPending: false },
    ],
    [
      'create, then build',
      {
        annotations: { [requestAnnotation('create')]: at(0), [requestAnnotation('build')]: at(0, 'y') },
        status: { activation: stopped },
      },
      { active: true, began: true, buildPending: false },
    ],
    [
      'a build request',
      { annotations: { [requestAnnotation('build')]: at(0) }, status: { activation: running } },
      { active: true, buildPending: true, began: false },
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

  test('new contents wait until the former ones are gone', () => {
    const annotations = { [requestAnnotation('create')]: at(0) };
    const waiting = decide({ annotations, isPresent: true, status: { activation: stopped } });
    expect(waiting).toMatchObject({ activation: { active: false }, began: false, handledRequests: {} });
    const bySpec = { ...stopped, specActive: false };
    expect(decide({ isPresent: true, status: { activation: bySpec } }).activation).toEqual(bySpec);
  });

  test('a delete and a later create are two turns: the second waits', () => {
    const annotations = { [requestAnnotation('delete')]: at(-2), [requestAnnotation('create')]: at(-1) };
    const first = decide({ annotations, status: { activation: running } });
    expect(first.activation.active).toBe(false);
    expect(first.handledRequests.create).toBeUndefined();
    const second = decide({ annotations, status: first });
    expect(second.activation).toMatchObject({ active: true, reason: 'CreateRequest' });
  });
});

describe('time to live', () => {
  test('counts from when the contents were asked for', () => {
    expect(decide({ spec: { ...spec, ttlSeconds: 60 } }).expiresAt).toBe('2026-01-01T12:01:00.000Z');
  });

  test.each([
    [{ seconds: 60, since: earlier, specSeconds: 60 }, false],
    [{ seconds: 7200, since: earlier, specSeconds: 60 }, true],
    [{ seconds: 0, since: earlier, specSeconds: 60 }, true],
  ])('%j leaves it active: %s', (ttl, active) => {
    const decision = decide({ spec: { ...spec, ttlSeconds: 60 }, status: { activation: running, ttl } });
    expect(decision.activation.active).toBe(active);
    expect(decision.ended).toBe(!active);
  });

  test('a changed spec and a ttl request each count anew', () => {
    const ttl = { seconds: 60, since: earlier, specSeconds: 60 };
    const bySpec = decide({ spec: { ...spec, ttlSeconds: 120 }, status: { activation: running, ttl } });
    expect(bySpec.expiresAt).toBe('2026-01-01T12:02:00.000Z');
    const annotations = { [requestAnnotation('ttl')]: ttlRequestValue(now, 'x', 300) };
    const byRequest = decide({ spec, annotations, status: { activation: running } });
    expect(byRequest.expiresAt).toBe('2026-01-01T12:05:00.000Z');
  });

  test('a ttl request without seconds changes nothing', () => {
    const ttl = { seconds: 7200, since: earlier, specSeconds: undefined };
    const annotations = { [requestAnnotation('ttl')]: `${at(0)}/1h` };
    const decision = decide({ annotations, status: { activation: running, ttl } });
    expect(decision).toMatchObject({ ttl, handledRequests: { ttl: `${at(0)}/1h` } });
  });

  test('what is empty does not expire', () => {
    const ttl = { seconds: 60, since: earlier, specSeconds: undefined };
    expect(decide({ status: { activation: stopped, ttl } })).toMatchObject({ ended: false, expiresAt: undefined });
  });
});
