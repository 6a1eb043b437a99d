import { expect, test } from '@jest/globals';
import type { Environment, EnvironmentState } from '../../crds/environment.ts';
import { requestAnnotation, requestValue, type RequestName } from '../../crds/requests.ts';
import { sampleActivation } from '../../crds/testing/activation.ts';
import { shownStatus } from './shown-status.ts';

type Status = NonNullable<Environment['status']>;
type Activation = NonNullable<Status['activation']>;

const second = (n: number) => new Date(Date.UTC(2026, 0, 1, 0, 0, n));
const activation = (changes: Partial<Activation> = {}) =>
  sampleActivation({ since: second(10).toISOString(), reason: 'CreateRequest', ...changes });
const ended = { number: 1, result: 'succeeded', startedAt: second(11).toISOString() } as const;
const condition = (type: string, status: 'True' | 'False') => [
  { type, status, reason: 'Test', message: '', lastTransitionTime: second(1).toISOString() },
];

const built: Status = { state: 'built', namespaceUID: 'n', revision: 'v', activation: activation(), build: ended };
const created: Status = { state: 'created', namespaceUID: 'n', revision: 'v', activation: activation() };
const emptied: Status = { state: 'empty', activation: activation({ active: false, reason: 'DeleteRequest' }) };
const coming: Status = { state: 'empty', activation: activation() };

test.each<[string, Status, RequestName[], EnvironmentState, Partial<Environment['spec']>?]>([
  ['built, nothing requested', built, [], 'built'],
  ['built, a build requested', built, ['build'], 'building'],
  ['built, a build handled', { ...built, activation: activation({ buildPending: true }) }, [], 'building'],
  [
    'built, a build handled that cannot start',
    { ...built, activation: activation({ buildPending: true }), conditions: condition('Stalled', 'True') },
    [],
    'building',
  ],
  [
    'empty, a commit waits for an approval',
    { ...coming, activation: activation({ buildPending: true }), approval: { waitingCommit: 'c' } },
    [],
    'empty',
  ],
  [
    'built, a later commit waits for an approval',
    { ...built, activation: activation({ buildPending: true }), approval: { waitingCommit: 'c' } },
    [],
    'built',
  ],
  ['built, a rebuild requested', built, ['rebuild'], 'building'],
  [
    'built, a rebuild that removes contents',
    { ...built, activation: activation({ active: false, rebuild: true }) },
    [],
    'building',
  ],
  [
    'empty between the halves of a rebuild',
    { state: 'empty', activation: activation({ active: false, rebuild: true }) },
    [],
    'building',
  ],
  [
    'created in a rebuild',
    { ...created, activation: activation({ rebuild: true, buildPending: true }) },
    [],
    'building',
  ],
  ['built, a delete requested', built, ['delete'], 'building'],
  ['built, contents on their way out', { ...built, activation: activation({ active: false }) }, [], 'building'],
  ['built, a TTL requested', built, ['ttl'], 'built'],
  ['created, nothing requested', created, [], 'created'],
  ['created, a build requested', created, ['build'], 'building'],
  ['created, a delete requested', created, ['delete'], 'building'],
  ['created by a PUT with a build', { ...created, activation: activation({ buildPending: true }) }, [], 'building'],
  [
    'created by a spawn, whose build is next',
    { ...created, activation: activation({ reason: 'Spec', buildPending: true }) },
    [],
    'created',
  ],
  [
    'created by a spawn without build, then a build handled',
    { ...created, activation: activation({ reason: 'Spec', buildPending: true }) },
    [],
    'building',
    { buildOnCreate: false },
  ],
  [
    'created by a spawn, its build failed, then another handled',
    { ...created, activation: activation({ reason: 'Spec', buildPending: true }), build: ended },
    [],
    'building',
  ],
  ['building', { ...built, state: 'building' }, [], 'building'],
  ['empty, nothing requested', emptied, [], 'empty'],
  ['empty, a PUT', emptied, ['create'], 'building'],
  ['empty, a PUT with a build', emptied, ['create', 'build'], 'building'],
  ['empty, a rebuild', emptied, ['rebuild'], 'building'],
  ['empty, a delete requested', emptied, ['delete'], 'empty'],
  ['empty, a PUT handled', coming, [], 'building'],
  ['empty, a PUT handled with a build', { ...coming, activation: activation({ buildPending: true }) }, [], 'building'],
  ['empty, refused', { ...coming, conditions: condition('Created', 'False') }, [], 'empty'],
  [
    'empty, for want of room',
    { ...coming, activation: activation({ buildPending: true }), conditions: condition('Stalled', 'True') },
    [],
    'empty',
  ],
  [
    'empty, refused, a build requested',
    { ...coming, conditions: condition('Created', 'False') },
    ['build'],
    'building',
  ],
  ['empty, refused, its namespace being deleted', { ...emptied, namespaceUID: 'n' }, [], 'building'],
  ['spawned just now', {}, ['build'], 'empty'],
  ['spawned', { state: 'empty', activation: activation({ reason: 'Spec', buildPending: true }) }, [], 'empty'],
  ['just created by a sync, and PUT', {}, ['create', 'build'], 'building', { active: false }],
])('%s', (_what, status, requests, expected, spec = {}) => {
  const annotations = Object.fromEntries(
    requests.map((name) => [requestAnnotation(name), `${requestValue(second(30), 'x')}${name === 'ttl' ? '/60' : ''}`]),
  );
  const environment = {
    metadata: { name: 'shop-main', annotations },
    spec: {
      ...{ repository: 'shop', gitRef: { name: 'main', type: 'branch' as const }, active: true, buildOnCreate: true },
      ...(status.activation && { active: status.activation.specActive }),
      ...spec,
    },
    status,
  };
  expect(shownStatus(environment)).toBe(expected);
});

test('does not show the former state of an environment that is being deleted', () => {
  const metadata = { name: 'shop-main', deletionTimestamp: second(30).toISOString() };
  const spec = {
    repository: 'shop',
    gitRef: { name: 'main', type: 'branch' as const },
    active: true,
    buildOnCreate: true,
  };
  expect(shownStatus({ metadata, spec, status: built })).toBe('building');
});
