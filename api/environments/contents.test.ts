import { describe, expect, test } from '@jest/globals';
import type { Environment } from '../../crds/environment.ts';
import { requestAnnotation, requestValue, ttlRequestValue } from '../../crds/requests.ts';
import { sampleActivation } from '../../crds/testing/activation.ts';
import { currentBuild, readStartsBuild, ttlOf, wantsContents } from './contents.ts';

type Status = NonNullable<Environment['status']>;
const second = (n: number) => new Date(Date.UTC(2026, 0, 1, 0, 0, n));
const value = (n: number, id = 'x') => requestValue(second(n), id);

const activation = (changes: Parameters<typeof sampleActivation>[0] = {}) =>
  sampleActivation({ since: second(10).toISOString(), ...changes });

function environment(status: Status, spec: Partial<Environment['spec']> = {}, asked: Record<string, string> = {}) {
  const annotations = Object.fromEntries(
    Object.entries(asked).map(([name, text]) => [requestAnnotation(name as 'build'), text]),
  );
  return {
    metadata: { name: 'shop-main', annotations },
    spec: {
      repository: 'shop',
      gitRef: { name: 'main', type: 'branch' as const },
      active: true,
      buildOnCreate: false,
      ...spec,
    },
    status,
  };
}

describe('a read of the environment starts a build', () => {
  const created = (status: Status = {}): Status => ({ state: 'created', activation: activation(), ...status });
  const build = (n: number) => ({ number: 1, result: 'failed' as const, startedAt: second(n).toISOString() });
  const byRequest = activation({ reason: 'CreateRequest' });

  test.each<[string, boolean, Status, Partial<Environment['spec']>?, Record<string, string>?]>([
    ['of one that is created and was never built', true, created()],
    ['of one whose last build was of earlier contents', true, created({ build: build(5) })],
    [
      'after a PUT without build, whose contents are new',
      true,
      created({ activation: byRequest, handledRequests: { create: value(9), build: value(3) } }),
    ],
    ['not before the operator has reconciled', false, {}],
    ['not of an empty one', false, created({ state: 'empty' })],
    ['not while it builds', false, created({ state: 'building' })],
    ['not of one that is built', false, created({ state: 'built' })],
    ['not when a build follows by the spec', false, created(), { buildOnCreate: true }],
    ['not when one failed since', false, created({ build: build(11) })],
    [
      'not when one was handled since, whatever became of it',
      false,
      created({ handledRequests: { build: value(11) } }),
    ],
    [
      'not when one was asked for with the PUT',
      false,
      created({ activation: byRequest, handledRequests: { create: value(9), build: value(9) } }),
    ],
    ['not when one is pending', false, created(), {}, { build: value(12) }],
    ['not when the operator has one pending', false, created({ activation: activation({ buildPending: true }) })],
    ['not when a rebuild is asked for', false, created(), {}, { rebuild: value(12) }],
    ['not when the deletion of the contents is requested', false, created(), {}, { delete: value(12) }],
  ])('%s', (_name, expected, status, spec = {}, asked = {}) => {
    expect(readStartsBuild(environment(status, spec, asked))).toBe(expected);
  });
});

test.each<[string, boolean, Status, Partial<Environment['spec']>?, Record<string, string>?]>([
  ['a new one, by its spec', true, {}],
  ['a new inactive one', false, {}, { active: false }],
  ['as the operator decided', false, { activation: activation({ active: false }) }],
  ['a change of the spec that it has not seen', false, { activation: activation() }, { active: false }],
  ['a pending create request', true, { activation: activation({ active: false }) }, {}, { create: value(11) }],
  ['the later of two pending ones', false, {}, {}, { create: value(11), delete: value(12) }],
])('returns whether contents are wanted: %s', (_name, expected, status, spec = {}, asked = {}) => {
  expect(wantsContents(environment(status, spec, asked))).toBe(expected);
});

test.each<[string, number, Status, Partial<Environment['spec']>?, Record<string, string>?]>([
  ['none', 0, {}],
  ['of the spec', 60, {}, { ttlSeconds: 60 }],
  ['of the status', 0, { ttl: { seconds: 0, since: second(1).toISOString() } }, { ttlSeconds: 60 }],
  [
    'just asked for',
    90,
    { ttl: { seconds: 60, since: second(1).toISOString() } },
    {},
    { ttl: ttlRequestValue(second(11), 'x', 90) },
  ],
])('returns the time to live: %s', (_name, expected, status, spec = {}, asked = {}) => {
  expect(ttlOf(environment(status, spec, asked))).toBe(expected);
});

test.each<[string, number | undefined, Status, Record<string, string>?]>([
  ['no build yet', undefined, {}],
  ['the last', 3, { build: { number: 3, result: 'failed', startedAt: second(1).toISOString() } }],
  [
    'a build that is about to start',
    undefined,
    { build: { number: 3, result: 'failed', startedAt: second(1).toISOString() } },
    { build: value(11) },
  ],
])('returns the current build: %s', (_name, expected, status, asked = {}) => {
  expect(currentBuild(environment(status, {}, asked))).toBe(expected);
});
