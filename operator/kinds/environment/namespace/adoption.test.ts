import { describe, expect, test } from '@jest/globals';
import type { BuildStatus } from '../../../../crds/environment-build.ts';
import { requestAnnotation } from '../../../../crds/requests.ts';
import { adoptedStatus, newRecord, recordedBuild } from './adoption.ts';

const build: BuildStatus = {
  number: 3,
  result: 'succeeded',
  commit: 'c3',
  revision: 'v3',
  startedAt: '2026-01-01T10:00:00.000Z',
  finishedAt: '2026-01-01T10:01:00.000Z',
};

describe('the record of what became ready', () => {
  test('is read as it was written', () => {
    expect(recordedBuild(newRecord(build, undefined))).toEqual(build);
  });

  test.each([[undefined], ['{'], ['{"number":0}'], ['[]']])('is not read from %j', (annotation) => {
    expect(recordedBuild(annotation)).toBeUndefined();
  });

  test('is not written again, whatever the order of its fields', () => {
    const reversed = JSON.stringify(Object.fromEntries(Object.entries(build).reverse()));
    expect(newRecord(build, reversed)).toBeUndefined();
    expect(newRecord({ ...build, number: 4 }, reversed)).toBeDefined();
  });
});

test('treats requests from before it became ready as done, and later ones as not', () => {
  const annotations = {
    [requestAnnotation('create')]: '2026-01-01T09:59:59Z/a',
    [requestAnnotation('build')]: '2026-01-01T10:00:30Z/b',
    [requestAnnotation('rebuild')]: '2026-01-01T10:30:00Z/c',
    [requestAnnotation('delete')]: '9999-12-31T23:59:59.999Z/d',
  };
  const spec = {
    repository: 'r',
    gitRef: { name: 'main', type: 'branch' },
    active: false,
    buildOnCreate: true,
  } as const;
  const now = new Date('2026-01-01T11:00:00Z');
  expect(adoptedStatus({ metadata: { name: 'x', annotations }, spec }, build, now)).toMatchObject({
    state: 'built',
    activation: { active: true, specActive: false, buildPending: false },
    handledRequests: {
      create: '2026-01-01T09:59:59Z/a',
      build: '2026-01-01T10:00:30Z/b',
      // Its time is unknown, so running services are not removed because of it.
      delete: '9999-12-31T23:59:59.999Z/d',
    },
    deployed: build,
    revision: 'v3',
  });
});
