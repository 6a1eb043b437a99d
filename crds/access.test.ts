import { expect, test } from '@jest/globals';
import { effectiveAccess, type EffectiveAccess, inheritedAccess, isStricter } from './access.ts';

type Settings = Parameters<typeof effectiveAccess>[0];
const password = (name: string) => ({ secretKeyRef: { name, key: 'password' } });

test.each<[string, Settings, Settings | undefined, EffectiveAccess]>([
  ['the default', {}, {}, { mode: 'public', from: 'default' }],
  ['the Repository', {}, { access: 'members' }, { mode: 'members', from: 'repository' }],
  ['the Environment', { access: 'public' }, { access: 'members' }, { mode: 'public', from: 'environment' }],
  ['nobody, without a Repository', {}, undefined, { mode: 'members', from: 'default' }],
  [
    'the Repository, with its password',
    {},
    { access: 'password', accessPassword: password('r') },
    { mode: 'password', from: 'repository', password: { from: 'repository', ...password('r') } },
  ],
  [
    'the Repository, with the password of the Environment',
    { accessPassword: password('e') },
    { access: 'password', accessPassword: password('r') },
    { mode: 'password', from: 'repository', password: { from: 'environment', ...password('e') } },
  ],
])('is decided by %s', (_what, environment, repository, expected) => {
  expect(effectiveAccess(environment, repository, 'public')).toEqual(expected);
});

const byPassword = (name?: string): EffectiveAccess => ({
  ...{ mode: 'password', from: 'repository' },
  ...(name !== undefined && { password: { from: 'repository', ...password(name) } }),
});
const to = (mode: 'public' | 'members'): EffectiveAccess => ({ mode, from: 'default' });

test.each<[string, EffectiveAccess, EffectiveAccess, boolean]>([
  ['members', to('members'), to('public'), true],
  ['members', to('members'), byPassword('a'), true],
  ['members', to('members'), to('members'), false],
  ['a password', byPassword('a'), to('public'), true],
  ['a password', byPassword('a'), byPassword('a'), false],
  ['a password', byPassword('a'), byPassword('b'), true],
  ['a password', byPassword('a'), byPassword(), true],
  ['a password', byPassword('a'), to('members'), false],
  ['public', to('public'), byPassword('a'), false],
  ['public', to('public'), to('public'), false],
])('%s is stricter: %j than %j', (_what, one, other, expected) => {
  expect(isStricter(one, other)).toBe(expected);
});

const own = (spec: Settings) => ({ metadata: { name: 'shop-main', uid: '0123456789' }, spec });
const shared: Settings = { access: 'password', accessPassword: password('visitors') };

test.each<[string, Settings[], Settings, Settings]>([
  ['nothing without another environment', [], {}, {}],
  ["the Repository's setting", [{}], { access: 'members' }, {}],
  ['no setting that is less strict', [{ access: 'public' }], { access: 'members' }, {}],
  ['no password where only members can enter', [shared], { access: 'members' }, {}],
  ['members', [{ access: 'public' }, { access: 'members' }, shared], {}, { access: 'members' }],
  ['a password', [{}, shared], {}, shared],
  ["the Repository's password", [{ access: 'password' }], { accessPassword: password('r') }, { access: 'password' }],
  [
    'members instead of a password that belongs to one environment',
    [{ access: 'password', accessPassword: password('access-shop-main-23456789') }],
    {},
    { access: 'members' },
  ],
])('a new environment of a ref has %s', (_what, environments, repository, expected) => {
  expect(inheritedAccess(environments.map(own), repository)).toEqual(expected);
});
